#include <memory>
#include <utility>

#include "memtable/memtable_rep.h"
#include "tools/bench/clock.h"
#include "tools/experiments/experiments.h"
#include "tools/experiments/sampler.h"
#include "util/random.h"

namespace pmlsm::experiments {
namespace {

constexpr FailureAtomicity kModes[] = {FailureAtomicity::kTransaction, FailureAtomicity::kIndividual,
                                       FailureAtomicity::kAtomic};
constexpr MemTableType kMemTables[] = {MemTableType::kSorted, MemTableType::kHash};

// What is moved in one sample: unique keys in a random order, and what their tables must hold.
struct Node {
  Records inserted;
  Records sorted;
};

Node MakeNode(uint64_t entries, Random* random) {
  std::vector<uint64_t> keys(entries);
  for (uint64_t i = 0; i < entries; ++i) keys[i] = i;
  for (uint64_t i = entries; i > 1; --i) std::swap(keys[i - 1], keys[random->Uniform(i)]);
  std::vector<SequenceNumber> sequences(entries);
  Node node;
  for (uint64_t i = 0; i < entries; ++i) {
    sequences[keys[i]] = i + 1;
    node.inserted.emplace_back(keys[i], i + 1);
  }
  for (uint64_t key = 0; key < entries; ++key) node.sorted.emplace_back(key, sequences[key]);
  return node;
}

std::unique_ptr<MemTableRep> Fill(MemTableType type, const Comparator* comparator, const Records& records) {
  auto memtable = MemTableRep::New(type, comparator);
  for (const Record& record : records) {
    const Entry entry = record.ref();
    memtable->Insert(entry.key, entry.tag, entry.value);
  }
  return memtable;
}

// 1. Sort, if it is a hash rep. 2. Stream the table and fence. 3. Publish its offset.
Status Move(const MemTableRep& memtable, FailureAtomicity atomicity, const JobContext& context, Bed* bed,
            PersistCounters* counters, Written* written) {
  const auto iterator = memtable.NewIterator();
  RunWriter writer(context, counters);
  for (iterator->SeekToFirst(); iterator->valid(); iterator->Next()) {
    Status s = writer.Add(iterator->entry());
    if (!s.ok()) return s;
  }
  Status s = writer.Finish(&written->tables);
  if (s.ok()) s = bed->Publish(atomicity, written->tables, counters);
  written->published = bed->published();
  return s;
}

// The rows of one node size. Repetitions go round over all rows, so that what disturbs the machine for a while
// disturbs all of them.
class NodeSize {
 public:
  NodeSize(const Config& config, uint64_t node_bytes, Bed* bed, Sampler* sampler, Random* random)
      : config_(config), bed_(bed), sampler_(sampler), entries_(node_bytes / kRecordBytes) {
    const uint64_t nodes = Sampler::OperationsPerSample(node_bytes);
    for (uint64_t i = 0; i < nodes; ++i) nodes_.push_back(MakeNode(entries_, random));
    for (const MemTableType memtable : kMemTables) {
      for (const FailureAtomicity mode : kModes) {
        Row row;
        row.setup.node_bytes = node_bytes;
        row.setup.memtable = memtable;
        row.setup.atomicity = mode;
        row.entries_read = row.entries_written = entries_;
        rows_.push_back(std::move(row));
      }
    }
  }

  Status Run(std::vector<Row>* rows) {
    for (uint64_t repetition = 0; repetition <= config_.repetitions; ++repetition) {
      const bool record = repetition != 0;  // the first one warms up
      for (const MemTableType type : kMemTables) {
        Status s = RunMemTable(type, record);
        if (!s.ok()) return s;
      }
    }
    for (Row& row : rows_) rows->push_back(std::move(row));
    return Status::OK();
  }

 private:
  Status RunMemTable(MemTableType type, bool record) {
    std::vector<std::unique_ptr<MemTableRep>> memtables;
    const uint64_t begin = bench::TickClock::Now();
    for (const Node& node : nodes_) memtables.push_back(Fill(type, bed_->comparator(), node.inserted));
    const double fill_nanos =
        static_cast<double>(bench::TickClock::Nanos(bench::TickClock::Now() - begin)) / nodes_.size();
    for (Row& row : rows_) {
      if (row.setup.memtable != type) continue;
      if (record) row.fill_nanos.push_back(fill_nanos);
      const FailureAtomicity mode = row.setup.atomicity;
      const JobContext context = bed_->Context(mode, MergeDestination::kDirect, entries_);
      const auto move = [&](uint64_t i, PersistCounters* counters, Written* written) {
        return Move(*memtables[i], mode, context, bed_, counters, written);
      };
      const auto expected = [this](uint64_t i) -> const Records& { return nodes_[i].sorted; };
      Status s = sampler_->Sample(nodes_.size(), move, expected, record, &row);
      if (!s.ok()) return s;
    }
    return Status::OK();
  }

  const Config& config_;
  Bed* const bed_;
  Sampler* const sampler_;
  const uint64_t entries_;
  std::vector<Node> nodes_;
  std::vector<Row> rows_;
};

}  // namespace

Status RunMoveNode(const Config& config, Bed* bed, std::vector<Row>* rows) {
  Sampler sampler(bed, config.evict_caches);
  Random random(config.seed);
  for (uint64_t bytes = config.node_bytes_min; bytes <= config.node_bytes_max; bytes *= 2) {
    Status s = NodeSize(config, bytes, bed, &sampler, &random).Run(rows);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

}  // namespace pmlsm::experiments
