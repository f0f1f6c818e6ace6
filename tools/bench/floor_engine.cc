#include "tools/bench/floor_engine.h"

#include <cstring>
#include <filesystem>

#include "pmem/extent_allocator.h"
#include "pmem/pool.h"
#include "pmem/store.h"
#include "tools/bench/floor_data.h"

namespace pmlsm::bench {
namespace {

constexpr uint64_t kExtentBytes = 64 << 10;
constexpr uint64_t kLogBytes = 32 << 20;  // a session's, used round and round; larger than caches
constexpr uint64_t kHeaderBytes = 36;     // of a record of pmlsm's log and of the entry in it

class FloorSession final : public Session {
 public:
  FloorSession(Pool* pool, ExtentAllocator* extents, FloorData* data, PersistCounters* counters)
      : pool_(pool), extents_(extents), data_(*data), store_(pool->medium(), counters) {
    if (pool->header().client_bytes != 0) {
      ready_ = Status::InvalidArgument("the pool is a DB's; --engine=floor can only open it");
      return;
    }
    ready_ = data->Prepare(pool, extents);
    if (ready_.ok()) ready_ = extents->Allocate(kLogBytes, ExtentAllocator::Use::kBackground, &log_);
    if (ready_.ok()) pool->Prefault(log_);
  }
  ~FloorSession() override {
    if (log_.bytes != 0) extents_->Free(log_);
  }

  Status Put(const Slice& key, const Slice& value) override {
    const size_t bytes = StartRecord(kHeaderBytes + key.size() + value.size());
    memcpy(&record_[kHeaderBytes], key.data(), key.size());
    if (!value.empty()) memcpy(&record_[kHeaderBytes + key.size()], value.data(), value.size());
    return Append(bytes);
  }
  Status Delete(const Slice& key) override { return Put(key, {}); }

  Status Get(const Slice& key, Slice* value) override {
    if (!ready_.ok()) return ready_;
    // The sum makes this read wait for the one before, and is in the lower bits, which decide nothing.
    const char* const entry = data_.Entry(data_.NumberOfHash(FloorHash(key) + last_read_));
    last_read_ = static_cast<unsigned char>(entry[data_.entry_bytes() - 1]);
    *value = Slice(entry + data_.key_bytes(), data_.value_bytes());
    return Status::OK();
  }

  Status BatchPut(const Slice& key, const Slice& value) override {
    batch_.append(kHeaderBytes, '\0').append(key.data(), key.size()).append(value.data(), value.size());
    return Status::OK();
  }
  Status BatchDelete(const Slice& key) override { return BatchPut(key, {}); }
  Status BatchWrite() override {
    const size_t bytes = StartRecord(batch_.size());
    memcpy(record_.data(), batch_.data(), batch_.size());
    batch_.clear();
    return Append(bytes);
  }

  std::unique_ptr<Iterator> NewIterator() override { return NewFloorIterator(data_); }

 private:
  // Makes room for so many bytes, in whole lines, and returns the bytes of those.
  size_t StartRecord(size_t content) {
    const size_t bytes = (content + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
    if (record_.size() < bytes) record_.resize(bytes);
    return bytes;
  }
  Status Append(size_t bytes) {
    if (!ready_.ok()) return ready_;
    if (bytes > log_.bytes) return Status::InvalidArgument("floor: record", std::to_string(bytes) + " bytes");
    if (log_.bytes - used_ < bytes) used_ = 0;
    store_.Stream(pool_->Writable(log_.offset + used_), record_.data(), bytes);
    used_ += bytes;
    return store_.Fence();
  }

  Pool* const pool_;
  ExtentAllocator* const extents_;
  const FloorData& data_;
  Store store_;
  Status ready_;
  Span log_;
  uint64_t used_ = 0;  // bytes of log_
  uint64_t last_read_ = 0;
  std::string record_;
  std::string batch_;
};

class FloorEngine final : public Engine {
 public:
  explicit FloorEngine(const EngineOptions& common)
      : common_(common), data_(common.entries, common.key_bytes, common.value_bytes) {}

  Status CheckOptions() const override {
    if (common_.sync) return Status::OK();
    return Status::NotSupported("--sync = false", "the floor fences every record");
  }
  // No more than libpmemobj's own open: what any DB in such a pool has at least. It opens a pmlsm DB, too.
  Status Open() override {
    std::error_code error;
    std::filesystem::create_directories(common_.path, error);
    if (error) return Status::IOError("cannot create directory " + common_.path, error.message());
    PoolOptions options = Location();
    options.create = true;
    options.extent_bytes = kExtentBytes;
    Status s = Pool::Open(options, &pool_);
    if (s.ok()) extents_ = std::make_unique<ExtentAllocator>(pool_.get());
    return s;
  }
  Status Close() override {
    data_.Forget();
    extents_.reset();
    pool_.reset();
    return Status::OK();
  }
  Status Destroy() override {
    Status s = Pool::Destroy(Location());
    std::error_code error;
    std::filesystem::remove(common_.path, error);  // if nothing else is there
    return s;
  }

  std::unique_ptr<Session> NewSession() override {
    return std::make_unique<FloorSession>(pool_.get(), extents_.get(), &data_, &counters_);
  }

  Status Flush() override { return Status::OK(); }
  Status Compact() override { return Status::OK(); }
  Status WaitForCompaction() override { return Status::OK(); }
  bool GetProperty(const std::string& name, std::string* value) override {
    if (name != "pmem-counters") return false;
    const PersistCounts counts = Read(counters_);
    *value = "log " + std::to_string(counts.bytes_modified) + " " + std::to_string(counts.lines_flushed) +
             " " + std::to_string(counts.blocks_touched) + " " + std::to_string(counts.fences) + "\n";
    return true;
  }
  bool ReturnsWhatWasWritten() const override { return false; }

  std::vector<std::pair<std::string, std::string>> Describe() override {
    return {
        {"Each Put", "one record streamed and fenced: survives a power cut when it returns"},
        {"Each Get", "one cache miss in " + std::to_string(data_.entries() * data_.entry_bytes()) +
                         " bytes of PMem, at a place that depends on what the last one read"},
        {"Each Next", "one memcpy of an entry"},
        {"Log", std::to_string(kLogBytes) + " bytes a session, faulted in, used round and round"},
        {"Index, filter", "none"},
        {"Checksums", "none"},
    };
  }

 private:
  PoolOptions Location() const {
    PoolOptions options;
    options.set_dir = common_.path;
    return options;
  }

  const EngineOptions common_;
  PersistCounters counters_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<ExtentAllocator> extents_;
  FloorData data_;
};

}  // namespace

std::unique_ptr<Engine> NewFloorEngine(const EngineOptions& options) {
  return std::make_unique<FloorEngine>(options);
}

}  // namespace pmlsm::bench
