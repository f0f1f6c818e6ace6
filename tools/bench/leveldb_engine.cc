#include "tools/bench/leveldb_engine.h"

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include "tools/bench/foreign.h"
#include "tools/bench/idle.h"

namespace pmlsm::bench {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

leveldb::Slice Foreign(const Slice& s) { return leveldb::Slice(s.data(), s.size()); }

class LeveldbSession final : public Session {
 public:
  LeveldbSession(leveldb::DB* db, const EngineOptions& options) : db_(db) {
    write_options_.sync = options.sync;
    read_options_.verify_checksums = options.verify_checksum;
  }

  Status Put(const Slice& key, const Slice& value) override {
    return FromForeign(db_->Put(write_options_, Foreign(key), Foreign(value)));
  }
  Status Delete(const Slice& key) override { return FromForeign(db_->Delete(write_options_, Foreign(key))); }
  Status Get(const Slice& key, Slice* value) override {
    const leveldb::Status s = db_->Get(read_options_, Foreign(key), &value_);
    *value = value_;
    return FromForeign(s);
  }
  Status BatchPut(const Slice& key, const Slice& value) override {
    batch_.Put(Foreign(key), Foreign(value));
    return Status::OK();
  }
  Status BatchDelete(const Slice& key) override {
    batch_.Delete(Foreign(key));
    return Status::OK();
  }
  Status BatchWrite() override {
    const leveldb::Status s = db_->Write(write_options_, &batch_);
    batch_.Clear();
    return FromForeign(s);
  }
  std::unique_ptr<Iterator> NewIterator() override {
    return std::make_unique<ForeignIterator<leveldb::Iterator, leveldb::Slice>>(
        db_->NewIterator(read_options_));
  }

 private:
  leveldb::DB* const db_;
  leveldb::WriteOptions write_options_;
  leveldb::ReadOptions read_options_;
  std::string value_;
  leveldb::WriteBatch batch_;
};

class LeveldbEngine final : public Engine {
 public:
  explicit LeveldbEngine(const EngineOptions& common)
      : common_(common), bloom_bits_(common.bloom_bits >= 0 ? common.bloom_bits : 10) {
    if (bloom_bits_ > 0) filter_.reset(leveldb::NewBloomFilterPolicy(bloom_bits_));
    options_.create_if_missing = true;
    // Its default of 4 MiB would write level 0 sixteen times as often. It has at most two of these.
    options_.write_buffer_size = common.write_buffer_size != 0 ? common.write_buffer_size : 32 * kMiB;
    // Fewer files to find a key in. LevelDB maps a table file into memory as long as it has fewer than 1000.
    options_.max_file_size = 8 * kMiB;
    options_.filter_policy = filter_.get();
    // The data lie in memory already, and compressing them costs more than it saves there.
    options_.compression = leveldb::kNoCompression;
  }

  Status CheckOptions() const override {
    if (common_.max_write_buffer_number != 0)
      return Status::NotSupported("--max_write_buffer_number", "LevelDB always has 2");
    if (common_.max_background_jobs != 0)
      return Status::NotSupported("--max_background_jobs", "LevelDB always has 1");
    return Status::OK();
  }
  Status Open() override {
    leveldb::DB* db = nullptr;
    Status s = FromForeign(leveldb::DB::Open(options_, common_.path, &db));
    db_.reset(db);
    return s;
  }
  Status Close() override {
    db_.reset();
    return Status::OK();
  }
  Status Destroy() override { return FromForeign(leveldb::DestroyDB(common_.path, leveldb::Options())); }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<LeveldbSession>(db_.get(), common_);
  }

  // Of its own accord LevelDB flushes the memtable before it compacts a range, however empty that is.
  Status Flush() override {
    const leveldb::Slice before_all("");
    db_->CompactRange(&before_all, &before_all);
    return Status::OK();
  }
  Status Compact() override {
    db_->CompactRange(nullptr, nullptr);
    return Status::OK();
  }
  Status WaitForCompaction() override {
    WaitUntilIdle();
    return Status::OK();
  }
  bool GetProperty(const std::string& name, std::string* value) override {
    return db_->GetProperty("leveldb." + name, value);
  }

  std::vector<std::pair<std::string, std::string>> Describe() override {
    return {
        {"Version",
         "LevelDB " + std::to_string(leveldb::kMajorVersion) + "." + std::to_string(leveldb::kMinorVersion)},
        {"Each Put", common_.sync
                         ? "sync: fdatasync of the log before it returns"
                         : "survives a killed process; a power cut only if the kernel wrote it back"},
        {"Memtable", std::to_string(options_.write_buffer_size) + " bytes, at most 2"},
        {"Table files", std::to_string(options_.max_file_size) + " bytes, mapped into memory; blocks of " +
                            std::to_string(options_.block_size) + " bytes, restart interval " +
                            std::to_string(options_.block_restart_interval)},
        {"Block cache", "the default, 8 MiB (not used for mapped files)"},
        {"Filter", std::to_string(bloom_bits_) + " bits a key"},
        {"Compression", "none"},
        {"Open files", "at most " + std::to_string(options_.max_open_files)},
        {"Checksums", common_.verify_checksum ? "checked by every read" : "not checked by reads"},
    };
  }

 private:
  const EngineOptions common_;
  const int bloom_bits_;
  std::unique_ptr<const leveldb::FilterPolicy> filter_;
  leveldb::Options options_;
  std::unique_ptr<leveldb::DB> db_;
};

}  // namespace

std::unique_ptr<Engine> NewLeveldbEngine(const EngineOptions& options) {
  return std::make_unique<LeveldbEngine>(options);
}

}  // namespace pmlsm::bench
