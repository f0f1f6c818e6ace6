#include "tools/bench/lmdb_engine.h"

#include <lmdb.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "tools/bench/lmdb_iterator.h"

namespace pmlsm::bench {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

class LmdbSession final : public Session {
 public:
  LmdbSession(MDB_env* env, MDB_dbi dbi) : env_(env), dbi_(dbi) {}
  ~LmdbSession() override {
    kept_.Close();
    if (read_txn_ != nullptr) mdb_txn_abort(read_txn_);
    if (batch_txn_ != nullptr) mdb_txn_abort(batch_txn_);
  }

  Status Put(const Slice& key, const Slice& value) override { return InTxn(&key, &value); }
  Status Delete(const Slice& key) override { return InTxn(&key, nullptr); }

  Status Get(const Slice& key, Slice* value) override {
    int code = BeginRead();
    MDB_val k = ToVal(key), v;
    if (code == 0) code = mdb_get(read_txn_, dbi_, &k, &v);
    if (code == 0) *value = ToSlice(v);
    return FromLmdb(code);
  }

  Status BatchPut(const Slice& key, const Slice& value) override {
    Status s = BeginBatch();
    return s.ok() ? PutIn(batch_txn_, key, value) : s;
  }
  Status BatchDelete(const Slice& key) override {
    Status s = BeginBatch();
    return s.ok() ? DeleteIn(batch_txn_, key) : s;
  }
  Status BatchWrite() override {
    if (batch_txn_ == nullptr) return Status::OK();
    const int code = mdb_txn_commit(batch_txn_);
    batch_txn_ = nullptr;
    return FromLmdb(code);
  }

  std::unique_ptr<Iterator> NewIterator() override { return NewLmdbIterator(env_, dbi_, &kept_); }

 private:
  // The view that the last Get returned a value from ends with the next call: mdb_txn_renew costs less than
  // mdb_txn_begin.
  int BeginRead() {
    if (read_txn_ == nullptr) return mdb_txn_begin(env_, nullptr, MDB_RDONLY, &read_txn_);
    mdb_txn_reset(read_txn_);
    return mdb_txn_renew(read_txn_);
  }
  // So that a view which nobody looks at does not keep old pages from being used again.
  void EndRead() {
    if (read_txn_ != nullptr) mdb_txn_reset(read_txn_);
  }
  Status BeginBatch() {
    EndRead();
    if (batch_txn_ != nullptr) return Status::OK();
    return FromLmdb(mdb_txn_begin(env_, nullptr, 0, &batch_txn_));
  }

  Status PutIn(MDB_txn* txn, const Slice& key, const Slice& value) {
    MDB_val k = ToVal(key), v = ToVal(value);
    return FromLmdb(mdb_put(txn, dbi_, &k, &v, 0));
  }
  // A key that is not there is no error, as elsewhere.
  Status DeleteIn(MDB_txn* txn, const Slice& key) {
    MDB_val k = ToVal(key);
    const int code = mdb_del(txn, dbi_, &k, nullptr);
    return code == MDB_NOTFOUND ? Status::OK() : FromLmdb(code);
  }
  // value = null: delete.
  Status InTxn(const Slice* key, const Slice* value) {
    EndRead();
    MDB_txn* txn = nullptr;
    Status s = FromLmdb(mdb_txn_begin(env_, nullptr, 0, &txn));
    if (!s.ok()) return s;
    s = value != nullptr ? PutIn(txn, *key, *value) : DeleteIn(txn, *key);
    if (s.ok()) return FromLmdb(mdb_txn_commit(txn));
    mdb_txn_abort(txn);
    return s;
  }

  MDB_env* const env_;
  const MDB_dbi dbi_;
  MDB_txn* read_txn_ = nullptr;
  MDB_txn* batch_txn_ = nullptr;
  LmdbCursor kept_;
};

class LmdbEngine final : public Engine {
 public:
  explicit LmdbEngine(const EngineOptions& common)
      : common_(common),
        // Address space, not memory. Each page may be there twice and half full while a commit copies it.
        map_bytes_(std::max(4 * kGiB, 16 * common.DataBytes())) {}
  ~LmdbEngine() override {
    if (env_ != nullptr) mdb_env_close(env_);
  }

  Status CheckOptions() const override {
    for (const auto& [flag, set] : {std::pair{"--write_buffer_size", common_.write_buffer_size != 0},
                                    {"--max_write_buffer_number", common_.max_write_buffer_number != 0},
                                    {"--max_background_jobs", common_.max_background_jobs != 0},
                                    {"--bloom_bits", common_.bloom_bits > 0}}) {
      if (set) return Status::NotSupported(flag, "LMDB has no memtables, background threads or filters");
    }
    return Status::OK();
  }

  Status Open() override {
    std::error_code error;
    std::filesystem::create_directories(common_.path, error);
    if (error) return Status::IOError("cannot create directory " + common_.path, error.message());
    // MDB_WRITEMAP: pages are changed in the map, without a write call for each, which is 2.8 times as fast.
    // MDB_NOTLS: a thread may have an iterator beside its session's view. MDB_NORDAHEAD: reads are random.
    unsigned flags = MDB_WRITEMAP | MDB_NOTLS | MDB_NORDAHEAD;
    if (!common_.sync) flags |= MDB_NOSYNC;
    int code = mdb_env_create(&env_);
    if (code == 0) code = mdb_env_set_mapsize(env_, map_bytes_);
    if (code == 0) code = mdb_env_open(env_, common_.path.c_str(), flags, 0644);
    if (code == 0) code = OpenTable();
    return FromLmdb(code);
  }
  Status Close() override {
    if (env_ != nullptr) mdb_env_close(env_);
    env_ = nullptr;
    return Status::OK();
  }
  Status Destroy() override {
    std::error_code error;
    std::filesystem::remove_all(common_.path, error);
    return error ? Status::IOError("cannot remove " + common_.path, error.message()) : Status::OK();
  }

  std::unique_ptr<Session> NewSession() override { return std::make_unique<LmdbSession>(env_, dbi_); }

  // Nothing waits anywhere: a commit is the whole of a write.
  Status Flush() override { return Status::OK(); }
  Status Compact() override { return Status::OK(); }
  Status WaitForCompaction() override { return Status::OK(); }
  bool GetProperty(const std::string&, std::string*) override { return false; }

  std::vector<std::pair<std::string, std::string>> Describe() override {
    return {
        {"Version", mdb_version(nullptr, nullptr, nullptr)},
        {"Each Put", common_.sync ? "a transaction of its own, synced before it returns"
                                  : "a transaction of its own, not synced (MDB_NOSYNC)"},
        {"Flags", "MDB_WRITEMAP, MDB_NOTLS, MDB_NORDAHEAD"},
        {"Map", std::to_string(map_bytes_) + " bytes of address space"},
        {"Reads", "in place; a view for each Get and each iterator, renewed"},
        {"Checksums", "none"},
    };
  }

 private:
  int OpenTable() {
    MDB_txn* txn = nullptr;
    int code = mdb_txn_begin(env_, nullptr, 0, &txn);
    if (code != 0) return code;
    code = mdb_dbi_open(txn, nullptr, MDB_CREATE, &dbi_);
    if (code == 0) return mdb_txn_commit(txn);
    mdb_txn_abort(txn);
    return code;
  }

  const EngineOptions common_;
  const uint64_t map_bytes_;
  MDB_env* env_ = nullptr;
  MDB_dbi dbi_ = 0;
};

}  // namespace

std::unique_ptr<Engine> NewLmdbEngine(const EngineOptions& options) {
  return std::make_unique<LmdbEngine>(options);
}

}  // namespace pmlsm::bench
