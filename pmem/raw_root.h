// What a RawPool says of itself: libpmemobj's headers and lanes, our root object and the group directory
// (doc/FORMAT.md, "Pool"), each checked without trusting another, so that one that is damaged does not hide
// the rest.
//
// Thread safety: free functions on read-only memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pmem/pool_format.h"
#include "pmem/raw_pool.h"

namespace pmlsm {

struct PoolDamage {
  std::string structure;
  uint64_t offset = 0;  // in the pool
  std::string what;
};

struct RawRoot {
  uint64_t offset = 0;  // of the root object; 0 = nothing of it was found
  bool header_ok = false;
  PoolHeader header = {};      // of use only if header_ok
  uint64_t client_offset = 0;  // where it must lie, even if the header does not say
  std::vector<Span> groups;    // in order of offset
};

// Finds the root object by libpmemobj's descriptor, or, if that leads nowhere, by its own checksum.
RawRoot ReadRawRoot(const RawPool& pool, std::vector<PoolDamage>* damages);

// libpmemobj's own structures that decide whether it opens the pool. None of them holds data.
void CheckPmdkStructures(const RawPool& pool, std::vector<PoolDamage>* damages);

}  // namespace pmlsm
