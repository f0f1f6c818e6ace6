// PmdkAllocator: space of a pool from libpmemobj's own allocator, an object at a time. The engine never allocates so
// (extent_allocator.h); experiments compare.
//
// Allocation is atomic and durable, but where the object lies is returned in DRAM: one that nobody has noted persistently
// is a leak after a crash. The caller counts nothing; libpmemobj's lines and fences are in no counter.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>

#include "pmem/pool.h"
#include "pmlsm/status.h"

namespace pmlsm {

class PmdkAllocator {
 public:
  // `pool` outlives it.
  explicit PmdkAllocator(Pool* pool) : pool_(pool) {}

  // Its bytes are whatever was there. NoSpace if the pool is full. REQUIRES: bytes > 0.
  Status Allocate(uint64_t bytes, uint64_t* offset);
  // REQUIRES: it was allocated here and is not free.
  void Free(uint64_t offset);

 private:
  Pool* const pool_;
};

}  // namespace pmlsm
