// SalvageDB. A column family at a time, into one of the same name and order. Steps:
// 1. Gather what the log holds, in DRAM: at most the memtables that it was written for. 2. Merge it with all tables, each read by a TableScan: they ascend, so no more than one entry of each is held.
// 3. Of each key take the newest version, and write it unless it is a deletion. Sequence numbers alone decide
// which is newest, so it does not matter which run a table belongs to.
#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
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
          !table_->has_live_lower || table_->comparator->Compare(entry->key, table_->live_lower) >= 0;
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

// What the log holds, by family. It is read once, or its damage would be reported several times.
class LogEntries {
 public:
  explicit LogEntries(OfflineDB* db) {
    db->ReadLog([this](const std::vector<LoggedEntry>& batch) {
      for (const auto& [family, entry] : batch) {
        entries_[family].push_back({Keep(entry.key), entry.tag, Keep(entry.value)});
      }
    });
    for (const OfflineFamily& family : db->families()) {
      std::vector<Entry>& entries = entries_[family.id];
      std::sort(entries.begin(), entries.end(), [&family](const Entry& a, const Entry& b) {
        return CompareInternal(*family.comparator, a.key, a.tag, b.key, b.tag) < 0;
      });
    }
  }

  // In order.
  const std::vector<Entry>& Of(uint32_t family) { return entries_[family]; }

 private:
  Slice Keep(const Slice& bytes) {
    bytes_.push_back(bytes.ToString());
    return bytes_.back();
  }

  std::deque<std::string> bytes_;
  std::map<uint32_t, std::vector<Entry>> entries_;
};

class LogSource final : public Source {
 public:
  explicit LogSource(const std::vector<Entry>* entries) : entries_(*entries) {}

  bool Next(Entry* entry) override {
    if (next_ == entries_.size()) return false;
    *entry = entries_[next_++];
    return true;
  }

 private:
  const std::vector<Entry>& entries_;
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
  Copier(DB* db, ColumnFamilyHandle* family) : db_(db), family_(family) { options_.disableWAL = true; }

  Status Put(const Slice& key, const Slice& value) {
    Status s = batch_.Put(family_, key, value);
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
  ColumnFamilyHandle* const family_;
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

// One family, with all its sources.
Status SalvageFamily(OfflineDB* damaged, const OfflineFamily& family, LogEntries* log, DB* db,
                     ColumnFamilyHandle* handle, OfflineReport* report) {
  Merge merge(family.comparator);
  merge.Add(std::make_unique<LogSource>(&log->Of(family.id)));
  for (const OfflineTable& table : damaged->tables()) {
    if (table.family != family.id) continue;
    ++report->tables;
    merge.Add(std::make_unique<TableSource>(damaged, &table, report));
  }
  Copier copier(db, handle);
  const Status s = CopyNewest(&merge, *family.comparator, &copier, report);
  report->keys_copied += copier.keys();
  return s;
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
  options.create_missing_column_families = true;
  const RawRoot& root = damaged->root();
  if (options.max_pmem_bytes == 0 && root.header_ok) options.max_pmem_bytes = root.header.max_pmem_bytes;
  std::vector<ColumnFamilyDescriptor> descriptors;
  for (const OfflineFamily& family : damaged->families()) {
    descriptors.emplace_back(family.name, options);
    descriptors.back().options.comparator = family.comparator;
  }
  std::unique_ptr<DB> db;
  std::vector<ColumnFamilyHandle*> handles;
  s = DB::Open(options, new_name, descriptors, &handles, &db);
  if (!s.ok()) return s;

  LogEntries log(damaged.get());
  for (size_t i = 0; s.ok() && i < handles.size(); ++i) {
    s = SalvageFamily(damaged.get(), damaged->families()[i], &log, db.get(), handles[i], report);
  }
  for (ColumnFamilyHandle* handle : handles) delete handle;
  const Status closed = db->Close();
  if (s.ok()) s = closed;
  damaged->ReportLostBytes();
  return s;
}

}  // namespace pmlsm
