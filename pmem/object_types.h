// libpmemobj type numbers of the objects that a pool holds beside its root.
#pragma once

#include <cstdint>

namespace pmlsm {

inline constexpr uint64_t kGroupType = 1;       // in the group directory
inline constexpr uint64_t kLogReserveType = 2;  // room kept for transaction logs; freed at the next open

}  // namespace pmlsm
