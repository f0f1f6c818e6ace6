#include "tools/device/device_probe.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "pmem/pool.h"
#include "pmem/store.h"
#include "util/random.h"

namespace pmlsm::device {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kSeed = 1;
constexpr int kRounds = 5;  // the least of them counts: what disturbs only adds
constexpr uint64_t kLinesABlock = kMediaBlockBytes / kCacheLineBytes;

// A pool in a directory, both of which go with it.
class ProbePool {
 public:
  ~ProbePool() {
    pool_.reset();
    std::error_code ignored;
    if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
  }
  Status Open(const std::string& directory, uint64_t bytes) {
    std::string name = directory + "/pmlsm_probe-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) return Status::IOError(directory, strerror(errno));
    directory_ = name;
    PoolOptions options;
    options.set_dir = directory_ + "/pool";
    options.create = true;
    options.max_pmem_bytes = 2 * bytes + 32 * kMiB;
    options.extent_bytes = 4096;
    options.client_bytes = 4096;
    Status status = Pool::Open(options, &pool_);
    if (status.ok()) status = pool_->Grow(bytes, &blocks_);
    if (status.ok()) pool_->Prefault(blocks_);
    return status;
  }
  Medium medium() const { return pool_->medium(); }
  uint64_t count() const { return blocks_.bytes / kMediaBlockBytes; }
  uint64_t* Line(uint64_t block, uint64_t line) const {
    return pool_->Writable<uint64_t>(blocks_.offset + block * kMediaBlockBytes + line * kCacheLineBytes);
  }

 private:
  std::string directory_;
  std::unique_ptr<Pool> pool_;
  Span blocks_;
};

template <typename Work>
double LeastNanos(uint64_t operations, const Work& work) {
  double least = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    const double nanos = took.count() / static_cast<double>(operations);
    least = round == 0 ? nanos : std::min(least, nanos);
  }
  return least;
}

// Each block's first word names the next block to visit, in one ring of all blocks; every line's second word is 0.
void LinkBlocks(const ProbePool& pool, const std::vector<uint64_t>& order, Store* store) {
  for (uint64_t i = 0; i < order.size(); ++i) {
    store->Store8(pool.Line(order[i], 0), order[(i + 1) % order.size()]);
  }
}

// What a visit takes that reads `lines` lines of each block, one after the other.
double ReadNanos(const ProbePool& pool, uint64_t lines) {
  const uint64_t visits = std::min<uint64_t>(pool.count(), 200000);
  uint64_t block = 0;
  const double nanos = LeastNanos(visits, [&] {
    for (uint64_t i = 0; i < visits; ++i) {
      uint64_t next = *static_cast<volatile uint64_t*>(pool.Line(block, 0));
      // A zero from each further line, whose address waits for the one before.
      for (uint64_t line = 1; line < lines; ++line) {
        next += *static_cast<volatile uint64_t*>(pool.Line(block, line) + 1 + (next >> 63));
      }
      block = next;
    }
  });
  return nanos;
}

Status WriteNanos(const ProbePool& pool, const std::vector<uint64_t>& order, uint64_t lines, Store* store,
                  double* nanos) {
  constexpr uint64_t kWritesOfMemory = 20000;
  constexpr uint64_t kWritesOfFile = 200;  // a system call each
  const uint64_t writes =
      std::min<uint64_t>(order.size(), pool.medium() == Medium::kFile ? kWritesOfFile : kWritesOfMemory);
  Status status;
  *nanos = LeastNanos(writes, [&] {
    for (uint64_t i = 0; i < writes && status.ok(); ++i) {
      for (uint64_t line = 0; line < lines; ++line) store->Store8(pool.Line(order[i], line) + 2, i);
      store->FlushLines(pool.Line(order[i], 0), lines * kCacheLineBytes);
      status = store->Fence();
    }
  });
  return status;
}

double FurtherLine(double block_nanos, double line_nanos) {
  return std::max(0.0, block_nanos - line_nanos) / static_cast<double>(kLinesABlock - 1);
}

}  // namespace

Status ProbeDevice(const std::string& directory, uint64_t bytes, Medium* medium, DeviceProfile* profile) {
  if (bytes < kMiB) return Status::InvalidArgument("bytes to probe", "must be at least 1 MiB");
  ProbePool pool;
  Status status = pool.Open(directory, bytes);
  if (!status.ok()) return status;
  *medium = pool.medium();
  PersistCounters counters;
  Store store(pool.medium(), &counters);
  std::vector<uint64_t> order(pool.count());
  for (uint64_t i = 0; i < order.size(); ++i) order[i] = i;
  Random random(kSeed);
  for (uint64_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.Uniform(i)]);
  LinkBlocks(pool, order, &store);

  DeviceProfile found;
  found.name = "probed";
  found.read_block_ns = ReadNanos(pool, 1);
  found.read_line_ns = FurtherLine(ReadNanos(pool, kLinesABlock), found.read_block_ns);
  constexpr uint64_t kFences = 20000;
  found.fence_ns = LeastNanos(kFences, [&] {
    for (uint64_t i = 0; i < kFences && status.ok(); ++i) status = store.Fence();
  });
  double line_nanos = 0;
  double block_nanos = 0;
  if (status.ok()) status = WriteNanos(pool, order, 1, &store, &line_nanos);
  if (status.ok()) status = WriteNanos(pool, order, kLinesABlock, &store, &block_nanos);
  if (!status.ok()) return status;
  found.write_block_ns = std::max(0.0, line_nanos - found.fence_ns);
  found.write_line_ns = FurtherLine(block_nanos, line_nanos);
  *profile = found;
  return status;
}

}  // namespace pmlsm::device
