// The files of a directory pool: pool.set (a libpmemobj pool set), parts/NNNNNN.pmem, and what a killed
// creation or growth leaves beside them. libpmemobj answers a bad part with SIGBUS or a bare EINVAL, so the
// parts are looked at before it sees them.
//
// States of a directory, by what is in it:
//   parts/                        a finished pool (the rename of parts.new/ to parts/ is creation's last
//   step) pool.set without parts/, parts.new/    a pool that has lost its parts: an error, never "no pool"
//   parts.new/, pool.set.new, pool.set     a creation or removal that was cut short: no pool
//
// Thread safety: free functions; the caller holds the lock of the directory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pmlsm/status.h"

namespace pmlsm {

struct PoolSetPaths {
  explicit PoolSetPaths(const std::string& directory);
  std::string directory;
  std::string set;
  std::string parts;
  std::string new_set;
  std::string new_parts;
};

// A file of parts/.
struct PoolPart {
  uint64_t number = 0;
  uint64_t bytes = 0;  // as libpmemobj maps it: whole pages
  bool readable = true;
  std::string name;
};
std::string PoolPartName(uint64_t number);
// Those that are there, in the order of their numbers.
Status ListPoolParts(const std::string& directory, std::vector<PoolPart>* parts);

Status PoolSetExists(const PoolSetPaths& paths, bool* exists);

// A pool set that reserves `bytes` of address space over the parts in `parts`, an absolute path.
// InvalidArgument if libpmemobj could not read such a path (blanks, '#').
Status WriteSetFile(const std::string& set, uint64_t bytes, const std::string& parts);
// Makes pool.set name this directory's own parts, wherever it was moved or copied to. Keeps the size.
Status RefreshSetFile(const PoolSetPaths& paths);

// Leaves only parts that libpmemobj opens: removes a trailing part that a killed growth left (never used:
// empty or all zero), renumbers after a growth that failed. IOError for a missing ("missing") or short
// ("truncated") part; Corruption if the first one is no pool, InvalidArgument if it has another layout.
Status RepairParts(const PoolSetPaths& paths);

// Whether the directory holds a pool, a half-made or a half-removed one: what RemovePoolSet may remove.
Status PoolSetHasRemains(const PoolSetPaths& paths, bool* remains);

// Removes the files of a finished or unfinished pool, in an order that never looks like a pool without parts.
Status RemovePoolSet(const PoolSetPaths& paths);

}  // namespace pmlsm
