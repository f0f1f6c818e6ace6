// SalvageDB. Steps: 1. Gather what the log holds, in DRAM: at most the memtables that it was written for.
// 2. Merge it with all tables, each read by a TableScan: they ascend, so no more than one entry of each is held.
// 3. Of each key take the newest version, and write it unless it is a deletion. Sequence numbers alone decide
// which is newest, so it does not matter which run a table belongs to.
#include <algorithm>
#include <deque>
#include <filesystem>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "db/offline.h"
#include "db/offline_db.h"
#include "pmlsm/db.h"
#include "pmlsm/write_batch.h"

namespace pmlsm {
namespace {

// Entries in order, without those that do not count.
class Source {
 public:
  virtual ~Source() = default;
  virtual bool Next(Entry* entry) = 0;
};

class TableSource final : public Source {
 public:
  TableSource(OfflineDB* db, const OfflineTable* table, OfflineReport* report)
      : db_(db), table_(table), report_(report), scan_(db->Scan(*table)) {}

  bool Next(Entry* entry) override {
    while (scan_->Next(entry)) {
      ++report_->entries;
      const bool counts =
          !table_->has_live_lower || db_->comparator()->Compare(entry->key, table_->live_lower) >= 0;
      if (counts) return true;
    }
    db_->ReportLost(*table_, *scan_, true);
    return false;
  }

 private:
  OfflineDB* const db_;
  const OfflineTable* const table_;
  OfflineReport* const report_;
  const std::unique_ptr<TableScan> scan_;
};

class LogSource final : public Source {
 public:
  explicit LogSource(OfflineDB* db) : comparator_(*db->comparator()) {
    db->ReadLog([this](const std::vector<Entry>& batch) {
      for (const Entry& entry : batch) {
        entries_.push_back({Keep(entry.key), entry.tag, Keep(entry.value)});
      }
    });
    std::sort(entries_.begin(), entries_.end(), [this](const Entry& a, const Entry& b) {
      return CompareInternal(comparator_, a.key, a.tag, b.key, b.tag) < 0;
    });
  }

  bool Next(Entry* entry) override {
    if (next_ == entries_.size()) return false;
    *entry = entries_[next_++];
    return true;
  }

 private:
  Slice Keep(const Slice& bytes) {
    bytes_.push_back(bytes.ToString());
    return bytes_.back();
  }

  const Comparator& comparator_;
  std::deque<std::string> bytes_;
  std::vector<Entry> entries_;
  size_t next_ = 0;
};

class Merge {
 public:
  explicit Merge(const Comparator* comparator) : heap_(Later{comparator}) {}

  void Add(std::unique_ptr<Source> source) {
    Entry entry;
    if (!source->Next(&entry)) return;
    heap_.push({entry, sources_.size()});
    sources_.push_back(std::move(source));
  }
  bool Next(Entry* entry) {
    if (heap_.empty()) return false;
    Head head = heap_.top();
    heap_.pop();
    *entry = head.entry;
    if (sources_[head.source]->Next(&head.entry)) heap_.push(head);
    return true;
  }

 private:
  struct Head {
    Entry entry;
    size_t source;
  };
  struct Later {
    const Comparator* comparator;
    bool operator()(const Head& a, const Head& b) const {
      return CompareInternal(*comparator, a.entry.key, a.entry.tag, b.entry.key, b.entry.tag) > 0;
    }
  };

  std::vector<std::unique_ptr<Source>> sources_;
  std::priority_queue<Head, std::vector<Head>, Later> heap_;
};

// Puts entries in batches, past the log: Close makes them durable.
class Copier {
 public:
  explicit Copier(DB* db) : db_(db) { options_.disableWAL = true; }

  Status Put(const Slice& key, const Slice& value) {
    Status s = batch_.Put(key, value);
    if (s.ok()) ++keys_;
    if (s.ok() && batch_.Data().size() >= kBatchBytes) s = Finish();
    return s;
  }
  Status Finish() {
    Status s = batch_.Count() == 0 ? Status::OK() : db_->Write(options_, &batch_);
    batch_.Clear();
    return s;
  }
  uint64_t keys() const { return keys_; }

 private:
  static constexpr size_t kBatchBytes = 64 << 10;
  DB* const db_;
  WriteOptions options_;
  WriteBatch batch_;
  uint64_t keys_ = 0;
};

Status CopyNewest(Merge* merge, const Comparator& comparator, Copier* copier, OfflineReport* report) {
  std::string last_key;
  bool any = false;
  Entry entry;
  while (merge->Next(&entry)) {
    if (any && comparator.Compare(entry.key, last_key) == 0) continue;
    any = true;
    last_key = entry.key.ToString();
    Status s;
    switch (TagType(entry.tag)) {
      case ValueType::kValue:
        s = copier->Put(entry.key, entry.value);
        break;
      case ValueType::kDeletion:
      case ValueType::kSingleDeletion:
        break;
      default:
        report->notes.push_back("an entry of a type that this library does not know is left out");
    }
    if (!s.ok()) return s;
  }
  return copier->Finish();
}

}  // namespace

Status SalvageDB(const SalvageOptions& salvage, const std::string& name, const std::string& new_name,
                 OfflineReport* report) {
  *report = OfflineReport();
  std::error_code error;
  if (std::filesystem::equivalent(name, new_name, error)) {
    return Status::InvalidArgument(new_name, "is the damaged DB itself");
  }
  std::unique_ptr<OfflineDB> damaged;
  Status s = OfflineDB::Open(salvage.options, name, report, &damaged);
  if (!s.ok()) return s;
  if (salvage.unnamed_tables) damaged->AddUnnamedTables();

  Options options = salvage.options;
  options.pool_file.clear();
  options.create_if_missing = true;
  options.error_if_exists = true;
  options.comparator = damaged->comparator();
  const RawRoot& root = damaged->root();
  if (options.max_pmem_bytes == 0 && root.header_ok) options.max_pmem_bytes = root.header.max_pmem_bytes;
  std::unique_ptr<DB> db;
  s = DB::Open(options, new_name, &db);
  if (!s.ok()) return s;

  Merge merge(damaged->comparator());
  merge.Add(std::make_unique<LogSource>(damaged.get()));
  for (const OfflineTable& table : damaged->tables()) {
    ++report->tables;
    merge.Add(std::make_unique<TableSource>(damaged.get(), &table, report));
  }
  Copier copier(db.get());
  s = CopyNewest(&merge, *damaged->comparator(), &copier, report);
  const Status closed = db->Close();
  if (s.ok()) s = closed;
  report->keys_copied = copier.keys();
  damaged->ReportLostBytes();
  return s;
}

}  // namespace pmlsm
