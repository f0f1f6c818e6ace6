// The access primitives that find a key in a node (the paper's Table 2, and those that its conclusion calls
// untested): free functions over a node's arrays.
//
//   equality   linear, linear with bitmap, hash probing with a count or a bitmap: the position or kNoPosition
//   order      binary, binary through slots, interpolation, exponential: the lower bound, that is the first
//              rank whose key is not smaller; `count` if there is none
//
// Thread safety: read-only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "primitives/entry_bitmap.h"
#include "primitives/node_parts.h"

namespace pmlsm::primitives {

template <typename K>
Position LinearSearch(const K* keys, uint32_t count, const K& key) {
  for (Position p = 0; p < count; ++p) {
    if (keys[p] == key) return p;
  }
  return kNoPosition;
}

template <typename K, uint32_t kEntries>
Position LinearSearchWithBitmap(const K* keys, const EntryBitmap<kEntries>& bitmap, const K& key) {
  for (Position p = 0; p < kEntries; ++p) {
    if (bitmap.Test(p) && keys[p] == key) return p;
  }
  return kNoPosition;
}

// A key is looked at only where its fingerprint matches: one in 256 of the others.
template <typename K>
Position HashProbe(const K* keys, const uint8_t* fingerprints, uint32_t count, const K& key) {
  const uint8_t wanted = Fingerprint(key);
  for (Position p = 0; p < count; ++p) {
    if (fingerprints[p] == wanted && keys[p] == key) return p;
  }
  return kNoPosition;
}

template <typename K, uint32_t kEntries>
Position HashProbeWithBitmap(const K* keys, const uint8_t* fingerprints, const EntryBitmap<kEntries>& bitmap,
                             const K& key) {
  const uint8_t wanted = Fingerprint(key);
  for (Position p = 0; p < kEntries; ++p) {
    if (fingerprints[p] == wanted && bitmap.Test(p) && keys[p] == key) return p;
  }
  return kNoPosition;
}

template <typename K>
Position BinarySearch(const K* keys, uint32_t count, const K& key) {
  return static_cast<Position>(std::lower_bound(keys, keys + count, key) - keys);
}

// slots[rank] is a position.
template <typename K>
Position BinarySearchThroughSlots(const K* keys, const uint8_t* slots, uint32_t count, const K& key) {
  const uint8_t* const found = std::lower_bound(
      slots, slots + count, key, [keys](uint8_t slot, const K& wanted) { return keys[slot] < wanted; });
  return static_cast<Position>(found - slots);
}

// Guesses by the line through the first and the last key. Even keys take few guesses; against uneven ones, every
// second probe halves what is left.
template <typename K>
Position InterpolationSearch(const K* keys, uint32_t count, const K& key) {
  static_assert(std::is_unsigned_v<K>, "differences of keys must not overflow");
  Position low = 0;
  Position high = count;  // the answer is in [low, high]
  for (bool guess = true; low < high; guess = !guess) {
    if (!(keys[low] < key)) return low;
    if (keys[high - 1] < key) return high;
    // keys[low] < key <= keys[high - 1], so the two differ, and the answer is in (low, high).
    Position probe = low + (high - low) / 2;
    if (guess) {
      const double share =
          static_cast<double>(key - keys[low]) / static_cast<double>(keys[high - 1] - keys[low]);
      probe = low + std::min(static_cast<Position>(share * (high - 1 - low)), high - 1 - low);
    }
    if (keys[probe] < key) {
      low = probe + 1;
    } else {
      high = probe;
    }
  }
  return low;
}

// Doubles its steps from the front until it has passed the key, then searches between the last two: the nearer to
// the front, the fewer lines are read.
template <typename K>
Position ExponentialSearch(const K* keys, uint32_t count, const K& key) {
  Position bound = 1;
  while (bound < count && keys[bound - 1] < key) bound *= 2;
  const Position low = bound / 2;
  return low + BinarySearch(keys + low, std::min(bound, count) - low, key);
}

}  // namespace pmlsm::primitives
