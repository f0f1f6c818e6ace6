#include "tools/bench/rocksdb_engine.h"

#include <rocksdb/db.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>

#include <chrono>
#include <thread>

#include "tools/bench/foreign.h"
#include "tools/bench/rocksdb_options.h"

namespace pmlsm::bench {
namespace {

rocksdb::Slice Foreign(const Slice& s) { return rocksdb::Slice(s.data(), s.size()); }

// An iterator over tables that have no order.
class NoIterator final : public Iterator {
 public:
  bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(const Slice&) override {}
  void SeekForPrev(const Slice&) override {}
  void Next() override {}
  void Prev() override {}
  Slice key() const override { return {}; }
  Slice value() const override { return {}; }
  Status status() const override { return Status::NotSupported("these tables cannot be scanned"); }
};

class RocksdbSession final : public Session {
 public:
  RocksdbSession(rocksdb::DB* db, const EngineOptions& options, bool ordered) : db_(db), ordered_(ordered) {
    write_options_.sync = options.sync;
    write_options_.disableWAL = options.disable_wal;
    read_options_.verify_checksums = options.verify_checksum;
  }

  Status Put(const Slice& key, const Slice& value) override {
    return FromForeign(db_->Put(write_options_, Foreign(key), Foreign(value)));
  }
  Status Delete(const Slice& key) override { return FromForeign(db_->Delete(write_options_, Foreign(key))); }
  Status Get(const Slice& key, Slice* value) override {
    value_.Reset();
    const rocksdb::Status s = db_->Get(read_options_, db_->DefaultColumnFamily(), Foreign(key), &value_);
    *value = Slice(value_.data(), value_.size());
    return FromForeign(s);
  }
  Status BatchPut(const Slice& key, const Slice& value) override {
    return FromForeign(batch_.Put(Foreign(key), Foreign(value)));
  }
  Status BatchDelete(const Slice& key) override { return FromForeign(batch_.Delete(Foreign(key))); }
  Status BatchWrite() override {
    const rocksdb::Status s = db_->Write(write_options_, &batch_);
    batch_.Clear();
    return FromForeign(s);
  }
  std::unique_ptr<Iterator> NewIterator() override {
    if (!ordered_) return std::make_unique<NoIterator>();
    return std::make_unique<ForeignIterator<rocksdb::Iterator, rocksdb::Slice>>(
        db_->NewIterator(read_options_));
  }

 private:
  rocksdb::DB* const db_;
  const bool ordered_;
  rocksdb::WriteOptions write_options_;
  rocksdb::ReadOptions read_options_;
  rocksdb::PinnableSlice value_;
  rocksdb::WriteBatch batch_;
};

class RocksdbEngine final : public Engine {
 public:
  RocksdbEngine(const EngineOptions& common, RocksdbTables tables)
      : common_(common), settings_(MakeRocksdbSettings(common, tables)) {}

  Status CheckOptions() const override { return Status::OK(); }
  Status Open() override {
    rocksdb::DB* db = nullptr;
    Status s = FromForeign(rocksdb::DB::Open(settings_.options, common_.path, &db));
    db_.reset(db);
    return s;
  }
  // Without a log, what is not flushed would be lost.
  Status Close() override {
    if (db_ == nullptr) return Status::OK();
    rocksdb::Status s;
    if (common_.disable_wal) s = db_->Flush(rocksdb::FlushOptions());
    if (s.ok()) s = db_->Close();
    db_.reset();
    return FromForeign(s);
  }
  Status Destroy() override { return FromForeign(rocksdb::DestroyDB(common_.path, settings_.options)); }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<RocksdbSession>(db_.get(), common_, settings_.ordered);
  }

  Status Flush() override { return FromForeign(db_->Flush(rocksdb::FlushOptions())); }
  Status Compact() override {
    return FromForeign(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  }
  // This version has no call for it.
  Status WaitForCompaction() override {
    while (IsWorkDue()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Status::OK();
  }
  bool GetProperty(const std::string& name, std::string* value) override {
    return db_->GetProperty("rocksdb." + name, value);
  }

  std::vector<std::pair<std::string, std::string>> Describe() override {
    std::vector<std::pair<std::string, std::string>> text = {
        {"Version", "RocksDB " + rocksdb::GetRocksVersionAsString()}, {"Each Put", Durability()}};
    text.insert(text.end(), settings_.text.begin(), settings_.text.end());
    text.emplace_back("Checksums",
                      common_.verify_checksum ? "checked by every read of a block" : "not checked by reads");
    return text;
  }

 private:
  bool IsWorkDue() {
    for (const char* name : {"rocksdb.mem-table-flush-pending", "rocksdb.num-running-flushes",
                             "rocksdb.compaction-pending", "rocksdb.num-running-compactions"}) {
      uint64_t count = 0;
      if (db_->GetIntProperty(name, &count) && count != 0) return true;
    }
    return false;
  }
  const char* Durability() const {
    if (common_.disable_wal) return "no log: lost in a crash unless its memtable was flushed";
    if (common_.sync) return "sync: fdatasync of the log before it returns";
    return "survives a killed process; a power cut only if the kernel wrote it back";
  }

  const EngineOptions common_;
  const RocksdbSettings settings_;
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace

std::unique_ptr<Engine> NewRocksdbEngine(const EngineOptions& options) {
  return std::make_unique<RocksdbEngine>(options, RocksdbTables::kBlocks);
}
std::unique_ptr<Engine> NewRocksdbMmapEngine(const EngineOptions& options) {
  return std::make_unique<RocksdbEngine>(options, RocksdbTables::kMappedBlocks);
}
std::unique_ptr<Engine> NewRocksdbMmapHashEngine(const EngineOptions& options) {
  return std::make_unique<RocksdbEngine>(options, RocksdbTables::kPlain);
}
std::unique_ptr<Engine> NewRocksdbCuckooEngine(const EngineOptions& options) {
  return std::make_unique<RocksdbEngine>(options, RocksdbTables::kCuckoo);
}

}  // namespace pmlsm::bench
