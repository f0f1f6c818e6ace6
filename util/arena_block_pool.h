// ArenaBlockPool: keeps freed arena blocks for the next arena, because the page faults of fresh DRAM cost as
// much as the inserts that fill it.
//
// Thread safety: all methods may run at the same time.
//
// 1. A block is kBlockBytes long, aligned to as much, and asks for a huge page.
// 2. The pool holds at most limit_bytes of free blocks; a block given back beyond that returns to the system.
// 3. A block's content is undefined.
#pragma once

#include <cstddef>
#include <vector>

#include "util/mutex.h"

namespace pmlsm {

class ArenaBlockPool {
 public:
  static constexpr size_t kBlockBytes = size_t{2} << 20;
  static constexpr size_t kDefaultLimitBytes = size_t{64} << 20;

  // The pool of the process; lives for ever.
  static ArenaBlockPool* Default();

  explicit ArenaBlockPool(size_t limit_bytes) : limit_bytes_(limit_bytes) {}
  ~ArenaBlockPool();
  ArenaBlockPool(const ArenaBlockPool&) = delete;
  ArenaBlockPool& operator=(const ArenaBlockPool&) = delete;

  char* Take();
  void GiveBack(char* block);

  // Fills the pool with blocks whose pages are there already, up to bytes or the limit. Takes about 0.1 ms a
  // MiB: for a background thread.
  void Warm(size_t bytes);

  // 0 = keep nothing, so that a sanitizer or a crash shows any use of a freed block.
  void SetLimit(size_t limit_bytes);
  size_t free_bytes() const;

 private:
  mutable Mutex mutex_;
  size_t limit_bytes_ GUARDED_BY(mutex_);
  std::vector<char*> free_ GUARDED_BY(mutex_);
};

}  // namespace pmlsm
