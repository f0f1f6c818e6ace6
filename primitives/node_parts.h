// What node layouts are made of: positions, sibling pointers, words that are published, batches of entries.
//
// A layout stores keys and values in arrays of their own (the paper, section 5.1); a position is an index into
// both. What a node holds is said by one to three words, its count or its bitmap, and a change of a node is
// published by storing these words: whatever they do not name is free space. A published word leaves its two top
// bits to PMwCAS (pmwcas_format.h).
//
// Thread safety: plain data; concurrent readers and writers of one node are not foreseen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "util/hash.h"

namespace pmlsm::primitives {

inline constexpr size_t kLineBytes = 64;

using Position = uint32_t;
inline constexpr Position kNoPosition = UINT32_MAX;

// As wide as a pointer of PMDK, so that records a node compare with the paper's Table 4.
struct PersistentPointer {
  uint64_t pool;    // 0: the pool that it lies in; there is no other yet
  uint64_t offset;  // from the memory's start; 0 = null
};

// A node's neighbours in the chain of leaves. `next.offset` is what the chain consists of: it is published.
// `previous` follows from it: it is stored after the publish, unfenced, and set right by recovery.
struct Siblings {
  PersistentPointer next;
  PersistentPointer previous;
};
static_assert(sizeof(Siblings) == 32);

// Whether the keys begin a cache line, or follow the metadata at once (Table 4: "aligned", "base").
enum class KeyPlace { kAligned, kPacked };

// Entries on their way between nodes, in DRAM. Ascending keys where the receiving layout keeps an order.
template <typename K, typename V, uint32_t kEntries>
struct Batch {
  uint32_t size = 0;
  K keys[kEntries];
  V values[kEntries];

  void Push(const K& key, const V& value) {
    keys[size] = key;
    values[size] = value;
    ++size;
  }
};

// Some of a node's positions; ascending by key where the layout keeps an order.
template <uint32_t kEntries>
struct Positions {
  uint32_t size = 0;
  Position at[kEntries];

  void Push(Position position) { at[size++] = position; }
};

// What a change takes to be published.
struct Effect {
  bool overwrites;  // bytes that readers reach now
  uint32_t words;   // that have to change at once
};
inline Effect operator+(const Effect& a, const Effect& b) {
  return {a.overwrites || b.overwrites, a.words + b.words};
}

// One byte of a key's hash.
template <typename K>
uint8_t Fingerprint(const K& key) {
  return static_cast<uint8_t>(Hash64(&key, sizeof(key)));
}

template <typename K, typename V>
inline constexpr bool kMayLieInNode = std::is_trivially_copyable_v<K>&& std::is_trivially_copyable_v<V>&&
                                          std::has_unique_object_representations_v<K> &&
                                      alignof(K) <= 8 && alignof(V) <= 8;

}  // namespace pmlsm::primitives
