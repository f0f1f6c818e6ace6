// Arena: memory that is handed out piece by piece and freed all at once.
//
// Thread safety: one thread allocates at a time; the byte counts may be read beside it.
//
// 1. Pieces never move and stay until the arena is destroyed.
// 2. Blocks grow from 16 KiB, so that a small memtable stays small, to those of an ArenaBlockPool.
// 3. A piece larger than a quarter of a pool block has a block of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/arena_block_pool.h"

namespace pmlsm {

class Arena {
 public:
  static constexpr size_t kAlignment = 8;
  static constexpr size_t kCacheLineBytes = 64;

  explicit Arena(ArenaBlockPool* pool = ArenaBlockPool::Default()) : pool_(pool) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Aligned to kAlignment. bytes > 0.
  char* Allocate(size_t bytes) { return Allocate(bytes, kAlignment); }
  char* AllocateCacheLines(size_t bytes) { return Allocate(bytes, kCacheLineBytes); }

  // Bytes handed out, with their padding: what the content takes.
  size_t bytes_in_use() const { return bytes_in_use_.load(std::memory_order_relaxed); }
  // Bytes of all blocks: what the arena takes from the system.
  size_t block_bytes() const { return block_bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kFirstBlockBytes = size_t{16} << 10;
  static constexpr size_t kSecondBlockBytes = size_t{128} << 10;
  static constexpr size_t kLargeBytes = ArenaBlockPool::kBlockBytes / 4;

  char* Allocate(size_t bytes, size_t alignment) {
    const size_t padding = -reinterpret_cast<uintptr_t>(next_) & (alignment - 1);
    const size_t needed = padding + ((bytes + kAlignment - 1) & ~(kAlignment - 1));
    if (__builtin_expect(needed > left_, 0)) return AllocateFromNewBlock(bytes);
    char* const piece = next_ + padding;
    next_ += needed;
    left_ -= needed;
    Count(&bytes_in_use_, needed);
    return piece;
  }
  char* AllocateFromNewBlock(size_t bytes);
  char* NewOwnBlock(size_t bytes);

  // One writer, so no read-modify-write instruction is needed.
  static void Count(std::atomic<size_t>* counter, size_t bytes) {
    counter->store(counter->load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }

  ArenaBlockPool* const pool_;
  char* next_ = nullptr;
  size_t left_ = 0;
  std::atomic<size_t> bytes_in_use_{0};
  std::atomic<size_t> block_bytes_{0};
  std::vector<char*> pool_blocks_;
  std::vector<char*> own_blocks_;  // the first, small ones, and those of large pieces
};

}  // namespace pmlsm
