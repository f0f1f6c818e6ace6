// Making a pool: its files, root object and header. Used by Pool::Open only.
//
// Thread safety: free functions; the caller holds the lock of what it makes.
#pragma once

#include <cstdint>
#include <string>

#include "pmem/device.h"
#include "pmem/pool.h"
#include "pmem/pool_set_file.h"
#include "pmlsm/status.h"

namespace pmlsm {

// The client area starts at the first multiple of it behind the root object's fixed part.
inline constexpr uint64_t kClientAlignment = 256;

// By how much libpmemobj shall extend a pool of pool_bytes when it is full, so that parts stay few at any
// size.
uint64_t GrowthStepBytes(uint64_t pool_bytes, uint64_t max_pmem_bytes);
// A setting of the open pool only. 0: do not grow.
Status SetGrowthStep(pmemobjpool* handle, uint64_t bytes);

// Removes the remains of a killed creation first. NoSpace if the file system is too small.
Status CreatePoolSet(const PoolSetPaths& paths, Medium medium, const PoolOptions& options);
// A new regular file, or a zeroed device.
Status CreatePoolFile(const std::string& path, Medium medium, const PoolOptions& options);
// Gives a libpmemobj pool that has none its root object and header: 1. Root object, zeroed, by libpmemobj.
// 2. Fill in the header and fence. 3. Store `created` and persist. CRASH before 3: no pool of pmlsm.
Status FormatPool(pmemobjpool* handle, Medium medium, const PoolOptions& options, uint64_t max_pmem_bytes);

}  // namespace pmlsm
