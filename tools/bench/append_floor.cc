#include "tools/bench/append_floor.h"

#include <cstring>
#include <filesystem>
#include <utility>

namespace pmlsm::bench {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kPoolBytes = 256 * kMiB;
constexpr uint64_t kLogBytes = 32 * kMiB;     // larger than caches, as the log's segments are
constexpr uint64_t kCopiesBytes = 64 * kMiB;  // a merge step's
constexpr uint64_t kHeaderBytes = 36;         // of a record and of the entry in it

}  // namespace

Status AppendFloor::New(const std::string& dir, std::unique_ptr<AppendFloor>* floor) {
  if (std::filesystem::exists(dir)) return Status::InvalidArgument("appendfloor: exists already", dir);
  floor->reset(new AppendFloor(dir));
  Status s = (*floor)->Open();
  if (!s.ok()) floor->reset();
  return s;
}

Status AppendFloor::Open() {
  PoolOptions options;
  options.set_dir = dir_;
  options.create = true;
  options.max_pmem_bytes = kPoolBytes;
  options.extent_bytes = 16 << 10;
  std::error_code error;
  std::filesystem::create_directories(dir_, error);
  if (error) return Status::IOError("cannot create directory " + dir_, error.message());
  Status s = Pool::Open(options, &pool_);
  if (!s.ok()) return s;
  extents_ = std::make_unique<ExtentAllocator>(pool_.get());
  for (const auto& [bytes, span] : {std::pair{kLogBytes, &log_}, std::pair{kCopiesBytes, &copies_}}) {
    s = extents_->Allocate(bytes, ExtentAllocator::Use::kBackground, span);
    if (!s.ok()) return s;
    pool_->Prefault(*span);
  }
  store_ = std::make_unique<Store>(pool_->medium(), &counters_);
  busy_ = std::thread([this] { KeepBusy(); });
  return s;
}

AppendFloor::~AppendFloor() {
  stop_ = true;
  if (busy_.joinable()) busy_.join();
  store_.reset();
  extents_.reset();
  pool_.reset();
  std::error_code error;
  std::filesystem::remove_all(dir_, error);
}

Status AppendFloor::Append(const Slice& key, const Slice& value) {
  const uint64_t content = kHeaderBytes + key.size() + value.size();
  const uint64_t bytes = (content + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
  if (bytes > log_.bytes)
    return Status::InvalidArgument("appendfloor: record", std::to_string(bytes) + " bytes");
  record_.resize(bytes);
  memcpy(&record_[kHeaderBytes], key.data(), key.size());
  memcpy(&record_[kHeaderBytes + key.size()], value.data(), value.size());
  if (log_.bytes - used_ < bytes) used_ = 0;
  store_->Stream(pool_->Writable(log_.offset + used_), record_.data(), bytes);
  used_ += bytes;
  return store_->Fence();
}

void AppendFloor::KeepBusy() {
  constexpr uint64_t kPiece = 4 << 10;
  Store store(pool_->medium(), &counters_);
  const uint64_t half = copies_.bytes / 2;
  while (!stop_) {
    for (uint64_t at = 0; at < half && !stop_; at += kPiece) {
      store.Stream(pool_->Writable(copies_.offset + half + at), pool_->At(copies_.offset + at), kPiece);
    }
    if (!store.Fence().ok()) return;
  }
}

}  // namespace pmlsm::bench
