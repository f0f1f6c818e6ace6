// Counts as RocksDB's statistics write them: 9999, 12K, 10M, 34G.
#pragma once

#include <cstdint>
#include <string>

namespace pmlsm {

inline std::string ShortCount(uint64_t count) {
  if (count < 10000) return std::to_string(count);
  if (count < 10000000) return std::to_string(count / 1000) + "K";
  if (count < 10000000000) return std::to_string(count / 1000000) + "M";
  return std::to_string(count / 1000000000) + "G";
}

}  // namespace pmlsm
