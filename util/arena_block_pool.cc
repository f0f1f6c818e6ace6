#include "util/arena_block_pool.h"

#include <sys/mman.h>

#include <cstdint>

#include "util/check.h"

namespace pmlsm {
namespace {

constexpr size_t kBlockBytes = ArenaBlockPool::kBlockBytes;
constexpr size_t kSmallPageBytes = 4096;

// Maps twice the size and gives back what lies outside the aligned block.
char* MapBlock() {
  void* const mapped =
      mmap(nullptr, 2 * kBlockBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mapped != MAP_FAILED);  // out of address space: what malloc's failure would be
  char* const start = static_cast<char*>(mapped);
  const size_t before = -reinterpret_cast<uintptr_t>(start) & (kBlockBytes - 1);
  if (before > 0) munmap(start, before);
  munmap(start + before + kBlockBytes, kBlockBytes - before);
  char* const block = start + before;
  madvise(block, kBlockBytes, MADV_HUGEPAGE);  // a hint: without huge pages all still works
  return block;
}

void UnmapBlock(char* block) { munmap(block, kBlockBytes); }

}  // namespace

ArenaBlockPool* ArenaBlockPool::Default() {
  static ArenaBlockPool* const pool = new ArenaBlockPool(kDefaultLimitBytes);
  return pool;
}

ArenaBlockPool::~ArenaBlockPool() { SetLimit(0); }

char* ArenaBlockPool::Take() {
  {
    MutexLock lock(&mutex_);
    if (!free_.empty()) {
      char* const block = free_.back();  // the last one freed: the likeliest to be in the CPU's cache
      free_.pop_back();
      return block;
    }
  }
  return MapBlock();
}

void ArenaBlockPool::GiveBack(char* block) {
  {
    MutexLock lock(&mutex_);
    if ((free_.size() + 1) * kBlockBytes <= limit_bytes_) {
      free_.push_back(block);
      return;
    }
  }
  UnmapBlock(block);
}

void ArenaBlockPool::Warm(size_t bytes) {
  while (free_bytes() + kBlockBytes <= bytes) {
    {
      MutexLock lock(&mutex_);
      if ((free_.size() + 1) * kBlockBytes > limit_bytes_) return;
    }
    char* const block = MapBlock();
    for (size_t at = 0; at < kBlockBytes; at += kSmallPageBytes) static_cast<volatile char*>(block)[at] = 0;
    GiveBack(block);
  }
}

void ArenaBlockPool::SetLimit(size_t limit_bytes) {
  MutexLock lock(&mutex_);
  limit_bytes_ = limit_bytes;
  while (free_.size() * kBlockBytes > limit_bytes_) {
    UnmapBlock(free_.back());
    free_.pop_back();
  }
}

size_t ArenaBlockPool::free_bytes() const {
  MutexLock lock(&mutex_);
  return free_.size() * kBlockBytes;
}

}  // namespace pmlsm
