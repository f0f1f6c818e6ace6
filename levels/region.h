// Region: a checked part of a table in memory, and what the readers of its parts share: how damage is told
// and how bytes are sealed (doc/FORMAT.md, "Table").
//
// Thread safety: values only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pmlsm/slice.h"
#include "util/coding.h"
#include "util/hash.h"

namespace pmlsm {

inline constexpr uint64_t kLineBytes = 64;
inline constexpr uint64_t RoundUpToLine(uint64_t bytes) {
  return (bytes + kLineBytes - 1) & ~(kLineBytes - 1);
}

// What is wrong with a table, and at which place of it. Cheap to return: the Status is made by the Table.
struct [[nodiscard]] Damage {
  const char* what = nullptr;  // static text; null = nothing is wrong
  uint64_t place = 0;
  explicit operator bool() const { return __builtin_expect(what != nullptr, 0); }
};

// Places count from the table's start; [begin, end) is all that may be read through this region.
struct Region {
  const char* start = nullptr;
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t seed = 0;  // TableSeed

  bool Holds(uint64_t place, uint64_t bytes) const {
    return place >= begin && place <= end && bytes <= end - place;
  }
};

// Sealing with the table's number, and for nodes and filter lines with their place, makes stale bytes of
// reused space and pieces that are read from a wrong place fail their check.
inline uint64_t TableSeed(uint64_t table_number) { return table_number * 0xd6e8feb86659fd93ull; }

// The seed is mixed in after the hash: XXH3's own seed costs long inputs a derived secret.
inline uint32_t Seal(const void* data, size_t bytes, uint64_t seed) {
  const uint64_t hash = XXH3_64bits(data, bytes) ^ (seed * 0x9e3779b97f4a7c15ull);
  return static_cast<uint32_t>(hash ^ (hash >> 32));
}

// The first 8 bytes of a key as a number that compares as they do; missing ones count as zero.
inline uint64_t KeyHead(const Slice& key) {
  if (key.size() >= sizeof(uint64_t)) return __builtin_bswap64(LoadFixed<uint64_t>(key.data()));
  uint64_t head = 0;
  for (size_t i = 0; i < key.size(); ++i) head |= uint64_t{static_cast<uint8_t>(key[i])} << (56 - 8 * i);
  return head;
}

}  // namespace pmlsm
