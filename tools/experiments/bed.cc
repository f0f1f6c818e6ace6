#include "tools/experiments/bed.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "util/check.h"

namespace pmlsm::experiments {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
// A range of a transaction is at most a 64th of it.
constexpr uint64_t kPoolBytes = 1024 * kMiB;
constexpr uint64_t kExtentBytes = 4 << 10;
// Groups are made and their pages touched before anything is measured.
constexpr uint64_t kBytesAhead = 96 * kMiB;

// Adds up the ranges that the publisher behind it snapshots.
class MeteredPublisher final : public Publisher {
 public:
  MeteredPublisher(std::unique_ptr<Publisher> publisher, bool snapshots, uint64_t* snapshot_bytes)
      : publisher_(std::move(publisher)), snapshots_(snapshots), snapshot_bytes_(snapshot_bytes) {}

  Status BeginRange(Span range) override {
    if (snapshots_ && range.bytes <= range_bytes_max()) *snapshot_bytes_ += range.bytes;
    return publisher_->BeginRange(range);
  }
  Status EndRange() override { return publisher_->EndRange(); }
  void AbortRange() override { publisher_->AbortRange(); }
  uint64_t range_bytes_max() const override { return publisher_->range_bytes_max(); }
  Status Publish(Store* store, uint64_t* word, uint64_t value) override {
    return publisher_->Publish(store, word, value);
  }

 private:
  const std::unique_ptr<Publisher> publisher_;
  const bool snapshots_;
  uint64_t* const snapshot_bytes_;
};

class NullSink final : public TableSink {
 public:
  void Write(uint64_t, const char*, size_t) override {}
  Status Finish() override { return Status::OK(); }
};

TableOptions Tables(const Comparator* comparator) {
  TableOptions options;
  options.comparator = comparator;
  return options;
}

double TableBytes(const TableOptions& options, uint64_t entries) {
  NullSink sink;
  TableBuilder builder(options, 1, uint64_t{1} << 30, &sink);
  for (uint64_t i = 0; i < entries; ++i) builder.Add(Record(i, kMaxSequenceNumber - i).ref());
  return static_cast<double>(builder.EstimatedBytes());
}

}  // namespace

Status Bed::New(const std::string& dir, std::unique_ptr<Bed>* bed) {
  bed->reset(new Bed());
  return (*bed)->Open(dir);
}

Status Bed::Open(const std::string& dir) {
  std::string name = dir + "/lsm_experiments-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) return Status::IOError(dir, strerror(errno));
  dir_ = name;

  PoolOptions options;
  options.set_dir = dir_ + "/db";
  options.create = true;
  options.max_pmem_bytes = kPoolBytes;
  options.extent_bytes = kExtentBytes;
  options.client_bytes = 4096;
  options.snapshots = true;
  Status s = Pool::Open(options, &pool_);
  if (!s.ok()) return s;
  extents_ = std::make_unique<ExtentAllocator>(pool_.get());
  s = extents_->GrowAhead(kBytesAhead);
  if (!s.ok()) return s;
  for (const auto mode :
       {FailureAtomicity::kTransaction, FailureAtomicity::kIndividual, FailureAtomicity::kAtomic}) {
    publishers_[static_cast<size_t>(mode)] = std::make_unique<MeteredPublisher>(
        Publisher::New(mode, pool_.get()), mode == FailureAtomicity::kTransaction, &snapshot_bytes_);
  }
  word_ = pool_->Writable<uint64_t>(pool_->header().client_offset);

  constexpr uint64_t kMany = 20000;
  constexpr double kMargin = 1.02;  // index nodes do not come evenly
  const TableOptions table_options = Tables(comparator_);
  table_bytes_base_ = TableBytes(table_options, 1) + kExtentBytes;
  table_bytes_per_entry_ =
      kMargin * (TableBytes(table_options, kMany) - TableBytes(table_options, 1)) / kMany;
  return Status::OK();
}

Bed::~Bed() {
  for (auto& publisher : publishers_) publisher.reset();
  extents_.reset();
  pool_.reset();
  std::error_code ignored;
  if (!dir_.empty()) std::filesystem::remove_all(dir_, ignored);
}

JobContext Bed::Context(FailureAtomicity atomicity, MergeDestination destination, uint64_t entries) {
  JobContext context;
  context.pool = pool_.get();
  context.extents = extents_.get();
  context.publisher = publisher(atomicity);
  context.table_options = Tables(comparator_);
  context.table_bytes =
      static_cast<uint64_t>(table_bytes_base_ + table_bytes_per_entry_ * static_cast<double>(entries));
  context.destination = destination;
  context.next_table_number = [this] { return ++tables_; };
  context.cancelled = [] { return false; };
  return context;
}

Status Bed::Publish(FailureAtomicity atomicity, const std::vector<TableRef>& tables,
                    PersistCounters* counters) {
  if (tables.size() != 1) {
    return Status::Corruption("expected one table", std::to_string(tables.size()) + " were written");
  }
  Store store(pool_->medium(), counters);
  return publisher(atomicity)->Publish(&store, word_, tables[0]->table().span().offset);
}

Status Bed::CheckWritten(const std::vector<TableRef>& tables, uint64_t published,
                         const Records& expected) const {
  if (tables.size() != 1 || published != tables[0]->table().span().offset) {
    return Status::Corruption("the published word does not name the table");
  }
  const Table& table = tables[0]->table();
  Status s = table.Check();
  if (!s.ok()) return s;
  const auto iterator = table.NewIterator(/*verify=*/true);
  iterator->SeekToFirst();
  for (size_t i = 0; i < expected.size(); ++i, iterator->Next()) {
    if (!iterator->valid()) break;
    const Entry want = expected[i].ref();
    const Entry& got = iterator->entry();
    if (got.key != want.key || got.tag != want.tag || got.value != want.value) {
      return Status::Corruption("a table read back differs from what was written",
                                "at entry " + std::to_string(i));
    }
  }
  if (!iterator->status().ok()) return iterator->status();
  if (iterator->valid() || table.header().entries != expected.size()) {
    return Status::Corruption("a table read back has another number of entries than was written");
  }
  return Status::OK();
}

}  // namespace pmlsm::experiments
