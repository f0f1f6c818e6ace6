#include <memory>
#include <utility>

#include "tools/experiments/experiments.h"
#include "tools/experiments/merge_once.h"
#include "tools/experiments/sampler.h"
#include "util/random.h"

namespace pmlsm::experiments {
namespace {

// The inputs of one merge, newest first, and what it must write.
struct Level {
  Runs runs;
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

// The rows that are asked for, and for each the chooser that a row of the automatic choice uses.
struct Measured {
  Row row;
  MergeChooser chooser;
};

std::vector<Measured> MakeRows(const Config& config, Medium medium, uint64_t node_bytes,
                               uint64_t duplicates) {
  std::vector<Measured> rows;
  for (const Setup& setup : MergeSetups(node_bytes)) {
    if (setup.duplicates != duplicates) continue;
    if (!config.merge_row.empty() && config.merge_row != MergeRowName(setup)) continue;
    Row row;
    row.setup = setup;
    MergeChooser::Setting setting;
    setting.medium = medium;
    setting.atomicity = setup.atomicity;
    rows.push_back({std::move(row), MergeChooser(setting)});
  }
  return rows;
}

// All ways to merge the same levels. Repetitions go round over all of them, so that what disturbs the machine
// for a while disturbs all.
Status RunLevels(const Config& config, uint64_t node_bytes, uint64_t duplicates, Bed* bed, Sampler* sampler,
                 Random* random, std::vector<Row>* rows) {
  constexpr uint64_t kPercent = 100;
  std::vector<Measured> measured = MakeRows(config, bed->medium(), node_bytes, duplicates);
  if (measured.empty()) return Status::OK();
  const uint64_t entries = node_bytes / kRecordBytes;
  std::vector<Level> levels(Sampler::OperationsPerSample(node_bytes));
  for (Level& level : levels) {
    Status s = MakeLevel(config.inputs, entries, entries * duplicates / kPercent, bed, random, &level);
    if (!s.ok()) return s;
  }
  const auto expected = [&levels](uint64_t i) -> const Records& { return levels[i].expected; };
  for (uint64_t repetition = 0; repetition <= config.repetitions; ++repetition) {
    for (auto& [row, chooser] : measured) {
      const auto merge = [&, &row = row, &chooser = chooser](uint64_t i, PersistCounters* counters,
                                                             Written* written) {
        return MergeOnce(row.setup, levels[i].runs, &chooser, bed, counters, written);
      };
      // The first repetition warms up.
      Status s = sampler->Sample(levels.size(), merge, expected, repetition != 0, &row);
      if (!s.ok()) return s;
    }
  }
  for (auto& [row, chooser] : measured) {
    row.entries_read = config.inputs * entries;
    row.entries_written = levels[0].expected.size();
    rows->push_back(std::move(row));
  }
  return Status::OK();
}

}  // namespace

Status RunMergeLevel(const Config& config, Bed* bed, std::vector<Row>* rows) {
  Sampler sampler(bed, config.evict_caches);
  Random random(config.seed);
  for (uint64_t bytes = config.node_bytes_min; bytes <= config.node_bytes_max; bytes *= 4) {
    for (const uint64_t duplicates : kMergeDuplicates) {
      Status s = RunLevels(config, bytes, duplicates, bed, &sampler, &random, rows);
      if (!s.ok()) return s;
    }
  }
  return Status::OK();
}

}  // namespace pmlsm::experiments
