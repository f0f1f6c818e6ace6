#include "tools/experiments/merge_once.h"

#include <utility>

#include "tools/experiments/for_each_survivor.h"
#include "tools/experiments/materialized_two_way.h"

namespace pmlsm::experiments {
namespace {

constexpr int kOutputLevel = 1;

struct Way {
  MergeOrder order;
  MergeDestination destination;
};

Way ChooseWay(const Setup& setup, size_t inputs, MergeChooser* chooser) {
  if (setup.form == MergeForm::kAuto) {
    const MergeChoice choice = chooser->Choose(kOutputLevel, inputs);
    return {choice.order, choice.destination};
  }
  return {setup.form == MergeForm::kKWay ? MergeOrder::kKWay : MergeOrder::k2Way, setup.destination};
}

}  // namespace

Status MergeOnce(const Setup& setup, const Runs& runs, MergeChooser* chooser, Bed* bed,
                 PersistCounters* counters, Written* written) {
  std::vector<SizedSource> inputs;
  uint64_t entries_read = 0;
  for (const auto& run : runs) {
    inputs.push_back({run->NewIterator(/*verify=*/true), run->entries(), run->entries() * kRecordBytes});
    entries_read += run->entries();
  }
  if (setup.form == MergeForm::kMaterialized) {
    Status s = MergeDownToTwo(bed->comparator(), &inputs);
    if (!s.ok()) return s;
  }
  uint64_t entries_max = 0;
  Sources sources;
  for (SizedSource& input : inputs) {
    entries_max += input.entries;
    sources.push_back(std::move(input.iterator));
  }
  const Way way = ChooseWay(setup, runs.size(), chooser);
  RunWriter writer(bed->Context(setup.atomicity, way.destination, entries_max), counters);
  uint64_t entries_written = 0;
  Status s = ForEachSurvivor(way.order, bed->comparator(), std::move(sources), [&](const Entry& entry) {
    ++entries_written;
    return writer.Add(entry);
  });
  if (s.ok()) s = writer.Finish(&written->tables);
  if (s.ok()) s = bed->Publish(setup.atomicity, written->tables, counters);
  written->published = bed->published();
  if (s.ok() && setup.form == MergeForm::kAuto) {
    chooser->NoteMerge(kOutputLevel, entries_read, entries_read - entries_written);
  }
  return s;
}

}  // namespace pmlsm::experiments
