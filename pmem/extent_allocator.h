// ExtentAllocator: the pool's free space, in DRAM only. At open everything is free but what the manifest
// reaches (MarkUsed), so no persistent state changes on allocation, nothing can leak, and a crash needs no
// undo.
//
// A span is contiguous and any number of extents long. Best fit, neighbours coalesce inside a group; among
// equals the most recently freed, whose pages are faulted in and cached, comes first.
//
// Reserve: the last `reserve_bytes` of what is free or can still be grown are for flushes and merges
// (Use::kBackground), the upper half of them for deletes, too (Use::kDelete); Use::kWrite is NoSpace before
// touching them. So deletes work in a full pool, and the merges that make room of them do.
//
// While the pool can still grow by much, room to grow counts as reserve; near its end the reserve is held in
// free spans, so that it is certain. If others take the file system's space before that, deletes have what is
// free but `least_bytes`.
//
// Thread safety: all methods lock inside. Growing the pool does not hold up those who need no growth.
//
// Invariants: 1. A group's extents are free or used, exactly once. 2. Free spans of a group never touch.
// 3. by_size_ holds the same spans as free_.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include "pmem/pool.h"
#include "pmlsm/status.h"
#include "util/mutex.h"

namespace pmlsm {

class ExtentAllocator {
 public:
  enum class Use { kWrite, kDelete, kBackground };

  // Starts with all groups of the pool free.
  explicit ExtentAllocator(Pool* pool);

  // At open, before the first Allocate. Corruption if it is not whole extents of one group, or already used.
  Status MarkUsed(Span span);

  // `bytes` is rounded up to whole extents. Grows the pool if nothing fits.
  Status Allocate(uint64_t bytes, Use use, Span* span);
  // The same; where no free span is so large and the pool cannot grow, the largest one that is, if it has
  // `least` bytes.
  Status AllocateUpTo(uint64_t bytes, uint64_t least, Use use, Span* span);
  // All or a part (whole extents) of an allocated span; it must not be reachable any more, by anybody. CHECKs
  // that it is not free already.
  void Free(Span span);

  // `least_bytes`: what one flush takes.
  void SetReserve(uint64_t reserve_bytes, uint64_t least_bytes);
  // Would Allocate(bytes, use) have a chance, growth included? A hint, not a promise.
  bool HasRoom(uint64_t bytes, Use use) const;
  // The same for `bytes` in spans of any size.
  bool HasRoomInPieces(uint64_t bytes, Use use) const;

  // If less than `bytes` are free, grows and prefaults a group. Background threads call it ahead of need.
  Status GrowAhead(uint64_t bytes);

  uint64_t extent_bytes() const;
  // Whether no group of the usual size can be added to the pool.
  bool PoolIsAtItsMaximum() const;
  uint64_t free_bytes() const;  // in existing groups
  uint64_t used_bytes() const;
  // Each group's extents are free or used exactly once: CHECKs its own books.
  void Check() const;

 private:
  struct FreeSpan {
    uint64_t bytes;
    uint64_t freed_at;  // clock_ when it, or the last part of it, was freed
  };
  using FreeMap = std::map<uint64_t, FreeSpan>;
  // (bytes, ~freed_at, offset): the first not below (n, 0, 0) is the best fit for n, the most recent first.
  using SizeKey = std::tuple<uint64_t, uint64_t, uint64_t>;

  uint64_t RoundUpToExtents(uint64_t bytes) const;
  bool WouldKeepReserve(uint64_t bytes, Use use) const REQUIRES(mutex_);
  bool TryAllocate(uint64_t bytes, Use use, Span* span) REQUIRES(mutex_);
  bool Fits(uint64_t bytes, Use use) const REQUIRES(mutex_);
  uint64_t ReserveFor(Use use) const REQUIRES(mutex_);
  bool EnoughIsFree(uint64_t bytes, uint64_t growable, Use use) const REQUIRES(mutex_);
  Status AllocateExactly(uint64_t bytes, Use use, Span* span);
  Status GrowFor(uint64_t bytes, Use use, Span* span);
  Status GrowOnce(uint64_t min_bytes, Span* group) REQUIRES(grow_mutex_);
  Status NoSpace(uint64_t bytes, Use use, const Status& cause) const;
  // The group that holds the whole span, aligned to its extents; null if there is none.
  const Span* GroupOf(Span span) const REQUIRES(mutex_);
  void InsertFree(uint64_t offset, FreeSpan span) REQUIRES(mutex_);
  void EraseFree(FreeMap::iterator at) REQUIRES(mutex_);
  // Takes `span` out of the free span at `at`, which covers it.
  void TakeOut(FreeMap::iterator at, Span span) REQUIRES(mutex_);

  Pool* const pool_;
  const uint64_t extent_bytes_;
  Mutex grow_mutex_;  // one growth at a time; taken before mutex_

  mutable Mutex mutex_;
  std::map<uint64_t, Span> groups_ GUARDED_BY(mutex_);  // by offset
  FreeMap free_ GUARDED_BY(mutex_);                     // by offset
  std::set<SizeKey> by_size_ GUARDED_BY(mutex_);
  uint64_t free_bytes_ GUARDED_BY(mutex_) = 0;
  uint64_t total_bytes_ GUARDED_BY(mutex_) = 0;
  uint64_t reserve_bytes_ GUARDED_BY(mutex_) = 0;
  uint64_t least_bytes_ GUARDED_BY(mutex_) = 0;
  uint64_t clock_ GUARDED_BY(mutex_) = 0;
};

}  // namespace pmlsm
