// ExtentAllocator: the pool's free space, in DRAM only. At open everything is free but what the manifest
// reaches (MarkUsed), so no persistent state changes on allocation, nothing can leak, and a crash needs no
// undo.
//
// A span is contiguous and any number of extents long. Best fit, neighbours coalesce inside a group; among
// equals the most recently freed, whose pages are faulted in and cached, comes first.
//
// Reserve: the last `reserve_bytes` of what is free or can still be grown are for flushes, merges and deletes
// (Use::kBackground); Use::kWrite is NoSpace before touching them.
//
// Thread safety: all methods lock inside.
#pragma once

#include <cstdint>
#include <map>

#include "pmem/pool.h"
#include "pmlsm/status.h"
#include "util/mutex.h"

namespace pmlsm {

class ExtentAllocator {
 public:
  enum class Use { kWrite, kBackground };

  // Starts with all groups of the pool free.
  explicit ExtentAllocator(Pool* pool);

  // At open, before the first Allocate. Corruption if it is not whole extents of one group, or already used.
  Status MarkUsed(Span span);

  // `bytes` is rounded up to whole extents. Grows the pool if nothing fits.
  Status Allocate(uint64_t bytes, Use use, Span* span);
  // All or a part (whole extents) of an allocated span; it must not be reachable any more, by anybody. CHECKs
  // that it is not free already.
  void Free(Span span);

  void SetReserve(uint64_t reserve_bytes);
  // Would Allocate(bytes, use) have a chance, growth included? A hint, not a promise.
  bool HasRoom(uint64_t bytes, Use use) const;

  // If less than `bytes` are free, grows and prefaults a group. Background threads call it ahead of need.
  Status GrowAhead(uint64_t bytes);

  uint64_t extent_bytes() const;
  uint64_t free_bytes() const;  // in existing groups
  uint64_t used_bytes() const;
  // Each group's extents are free or used exactly once: CHECKs its own books.
  void Check() const;
};

}  // namespace pmlsm
