// Small types that several public headers share.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pmlsm {

// Every write gets the next number; 56 bits are used. A read at number S sees the writes numbered <= S.
using SequenceNumber = uint64_t;

// The largest legal sizes, in bytes. Larger ones are InvalidArgument before anything is logged.
inline constexpr size_t kMaxKeyBytes = size_t{64} << 10;
inline constexpr size_t kMaxValueBytes = size_t{1} << 30;
inline constexpr size_t kMaxBatchBytes = size_t{3} << 30;

}  // namespace pmlsm
