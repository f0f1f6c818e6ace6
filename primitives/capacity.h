// How many records a node of a given size holds, by layout (the paper's Table 4), and what a chain of such nodes
// takes. Every node is metadata, keys, values, in this order:
//
//   counted     count (8 B), siblings (32 B)                                            sorted, unsorted
//   bitmap      bitmap words, siblings                                                  bitmap
//   searched    bitmap words, siblings, one byte, one byte a record                     indirection, hashing
//   probed      count, siblings, one byte a record                                      counted hashing
//
// Keys begin a cache line, except in KeyPlace::kPacked. Indirection needs the one byte of its own, for the number
// of slots; hashing does not, but is given the same capacity, as in Table 4, so that the two compare.
//
// Thread safety: constant expressions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "primitives/entry_bitmap.h"
#include "primitives/node_parts.h"

namespace pmlsm::primitives {

struct RecordBytes {
  size_t key;
  size_t value;
};

constexpr size_t RoundUpTo(size_t unit, size_t bytes) { return (bytes + unit - 1) / unit * unit; }

constexpr size_t kCountBytes = sizeof(uint64_t);

enum class Metadata { kCounted, kBitmap, kSearched, kProbed };

constexpr size_t MetadataBytes(Metadata metadata, uint32_t entries) {
  const size_t bitmap = BitmapWords(entries) * sizeof(uint64_t);
  switch (metadata) {
    case Metadata::kCounted:
      return kCountBytes + sizeof(Siblings);
    case Metadata::kBitmap:
      return bitmap + sizeof(Siblings);
    case Metadata::kSearched:
      return bitmap + sizeof(Siblings) + 1 + entries;
    case Metadata::kProbed:
      return kCountBytes + sizeof(Siblings) + entries;
  }
  return 0;
}

constexpr size_t NodeBytes(Metadata metadata, RecordBytes record, uint32_t entries, KeyPlace place) {
  const size_t keys = RoundUpTo(place == KeyPlace::kAligned ? kLineBytes : sizeof(uint64_t),
                                MetadataBytes(metadata, entries));
  return RoundUpTo(sizeof(uint64_t), keys + entries * record.key) + entries * record.value;
}

// The largest number of records that fits.
constexpr uint32_t Capacity(Metadata metadata, size_t node_bytes, RecordBytes record,
                            KeyPlace place = KeyPlace::kAligned) {
  uint32_t entries = static_cast<uint32_t>(node_bytes / (record.key + record.value));
  while (entries > 0 && NodeBytes(metadata, record, entries, place) > node_bytes) --entries;
  return entries;
}

// A chain of full nodes, bytes.
constexpr uint64_t ChainBytes(uint64_t records, uint32_t capacity, size_t node_bytes) {
  return (records + capacity - 1) / capacity * node_bytes;
}

}  // namespace pmlsm::primitives
