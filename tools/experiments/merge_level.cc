#include <memory>
#include <utility>

#include "levels/run.h"
#include "tools/experiments/experiments.h"
#include "tools/experiments/materialized_two_way.h"
#include "tools/experiments/sampler.h"
#include "tools/experiments/survivors.h"
#include "util/random.h"

namespace pmlsm::experiments {
namespace {

constexpr uint64_t kDuplicates[] = {0, 50, 100};  // percent

// The inputs of one merge, newest first, and what it must write.
struct Level {
  std::vector<std::unique_ptr<const Run>> runs;
  Records expected;

  Level() = default;
  Level(Level&&) = default;
  Level& operator=(Level&&) = default;
  ~Level() {
    for (const auto& run : runs) {
      for (const TableRef& table : run->tables()) table->MarkObsolete();
    }
  }
};

// Which keys each input holds: `shared` of its `entries` are in all inputs; the others are dealt out in random
// order.
std::vector<std::vector<uint64_t>> DealKeys(uint64_t inputs, uint64_t entries, uint64_t shared,
                                            Random* random) {
  constexpr uint64_t kEverybody = UINT64_MAX;
  std::vector<uint64_t> owners(shared, kEverybody);
  for (uint64_t input = 0; input < inputs; ++input) owners.insert(owners.end(), entries - shared, input);
  for (uint64_t i = owners.size(); i > 1; --i) std::swap(owners[i - 1], owners[random->Uniform(i)]);
  std::vector<std::vector<uint64_t>> keys(inputs);
  for (uint64_t key = 0; key < owners.size(); ++key) {
    for (uint64_t input = 0; input < inputs; ++input) {
      if (owners[key] == kEverybody || owners[key] == input) keys[input].push_back(key);
    }
  }
  return keys;
}

Status WriteRun(const Records& records, uint64_t number, Bed* bed, std::unique_ptr<const Run>* run) {
  const JobContext context =
      bed->Context(FailureAtomicity::kAtomic, MergeDestination::kDirect, records.size());
  PersistCounters counters;
  RunWriter writer(context, &counters);
  for (const Record& record : records) {
    Status s = writer.Add(record.ref());
    if (!s.ok()) return s;
  }
  std::vector<TableRef> tables;
  Status s = writer.Finish(&tables);
  if (s.ok()) *run = std::make_unique<Run>(bed->comparator(), number, std::move(tables), false, "");
  return s;
}

Status MakeLevel(uint64_t inputs, uint64_t entries, uint64_t shared, Bed* bed, Random* random, Level* level) {
  const auto keys = DealKeys(inputs, entries, shared, random);
  const uint64_t different = shared + inputs * (entries - shared);
  std::vector<SequenceNumber> newest(different);
  SequenceNumber sequence = (inputs + 1) * entries;  // falls: the newest input comes first
  for (uint64_t input = 0; input < inputs; ++input) {
    Records records;
    for (const uint64_t key : keys[input]) {
      records.emplace_back(key, sequence);
      if (newest[key] == 0) newest[key] = sequence;
      --sequence;
    }
    std::unique_ptr<const Run> run;
    Status s = WriteRun(records, input + 1, bed, &run);
    if (!s.ok()) return s;
    level->runs.push_back(std::move(run));
  }
  for (uint64_t key = 0; key < different; ++key) level->expected.emplace_back(key, newest[key]);
  return Status::OK();
}

// 1. Stream the table and fence. 2. Publish its offset.
Status WriteMerged(const Setup& setup, MergeOrder order, Sources sources, uint64_t entries_max, Bed* bed,
                   PersistCounters* counters, Written* written) {
  RunWriter writer(bed->Context(setup.atomicity, setup.destination, entries_max), counters);
  Status s = ForEachSurvivor(order, bed->comparator(), std::move(sources),
                             [&writer](const Entry& entry) { return writer.Add(entry); });
  if (s.ok()) s = writer.Finish(&written->tables);
  if (s.ok()) s = bed->Publish(setup.atomicity, written->tables, counters);
  written->published = bed->published();
  return s;
}

Status Merge(const Setup& setup, const Level& level, Bed* bed, PersistCounters* counters, Written* written) {
  std::vector<SizedSource> inputs;
  for (const auto& run : level.runs) {
    inputs.push_back({run->NewIterator(/*verify=*/true), run->entries(), run->entries() * kRecordBytes});
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
  const MergeOrder order = setup.form == MergeForm::kKWay ? MergeOrder::kKWay : MergeOrder::k2Way;
  return WriteMerged(setup, order, std::move(sources), entries_max, bed, counters, written);
}

std::vector<Row> MakeRows(uint64_t node_bytes, uint64_t duplicates, uint64_t entries_read,
                          uint64_t entries_written) {
  std::vector<Row> rows;
  for (const auto form : {MergeForm::kMaterialized, MergeForm::kStreaming, MergeForm::kKWay}) {
    for (const auto destination : {MergeDestination::kDirect, MergeDestination::kBuffered}) {
      for (const auto mode :
           {FailureAtomicity::kTransaction, FailureAtomicity::kIndividual, FailureAtomicity::kAtomic}) {
        Row row;
        row.setup.experiment = Experiment::kMergeLevel;
        row.setup.node_bytes = node_bytes;
        row.setup.atomicity = mode;
        row.setup.duplicates = duplicates;
        row.setup.form = form;
        row.setup.destination = destination;
        row.entries_read = entries_read;
        row.entries_written = entries_written;
        rows.push_back(std::move(row));
      }
    }
  }
  return rows;
}

// All ways to merge the same levels. Repetitions go round over all of them, so that what disturbs the machine
// for a while disturbs all.
Status RunLevels(const Config& config, uint64_t node_bytes, uint64_t duplicates, Bed* bed, Sampler* sampler,
                 Random* random, std::vector<Row>* rows) {
  constexpr uint64_t kPercent = 100;
  const uint64_t entries = node_bytes / kRecordBytes;
  std::vector<Level> levels(Sampler::OperationsPerSample(node_bytes));
  for (Level& level : levels) {
    Status s = MakeLevel(config.inputs, entries, entries * duplicates / kPercent, bed, random, &level);
    if (!s.ok()) return s;
  }
  const auto expected = [&levels](uint64_t i) -> const Records& { return levels[i].expected; };
  std::vector<Row> measured =
      MakeRows(node_bytes, duplicates, config.inputs * entries, levels[0].expected.size());
  for (uint64_t repetition = 0; repetition <= config.repetitions; ++repetition) {
    for (Row& row : measured) {
      const auto merge = [&](uint64_t i, PersistCounters* counters, Written* written) {
        return Merge(row.setup, levels[i], bed, counters, written);
      };
      // The first repetition warms up.
      Status s = sampler->Sample(levels.size(), merge, expected, repetition != 0, &row);
      if (!s.ok()) return s;
    }
  }
  for (Row& row : measured) rows->push_back(std::move(row));
  return Status::OK();
}

}  // namespace

Status RunMergeLevel(const Config& config, Bed* bed, std::vector<Row>* rows) {
  Sampler sampler(bed, config.evict_caches);
  Random random(config.seed);
  for (uint64_t bytes = config.node_bytes_min; bytes <= config.node_bytes_max; bytes *= 4) {
    for (const uint64_t duplicates : kDuplicates) {
      Status s = RunLevels(config, bytes, duplicates, bed, &sampler, &random, rows);
      if (!s.ok()) return s;
    }
  }
  return Status::OK();
}

}  // namespace pmlsm::experiments
