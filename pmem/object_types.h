// The objects that a pool holds beside its root: libpmemobj type numbers and sizes.
#pragma once

#include <cstdint>

namespace pmlsm {

// Huge blocks are whole chunks. Asked for so much less than that, a block costs no extra chunk and is not put
// into a run, which would take 4 MiB at once.
inline constexpr uint64_t kChunkBytes = uint64_t{256} << 10;
inline constexpr uint64_t kBlockSlackBytes = 64;
inline uint64_t HugeRequestBytes(uint64_t usable_bytes) {
  return (usable_bytes + kBlockSlackBytes + kChunkBytes - 1) / kChunkBytes * kChunkBytes - kBlockSlackBytes;
}

inline constexpr uint64_t kGroupType = 1;       // in the group directory
inline constexpr uint64_t kLogReserveType = 2;  // room kept for transaction logs; freed at the next open
inline constexpr uint64_t kSingleType = 3;      // of a PmdkAllocator

}  // namespace pmlsm
