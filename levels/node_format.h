// The persistent layout of a data node and its entries (doc/FORMAT.md, "Data node"). Constants and structs
// only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pmlsm {

// A node starts at a multiple of 64 B: NodeHeader, uint8_t fingerprints[count], uint16_t slots[count] (the
// entry's offset from the node's start), both in key order; then the entries; zeros up to node_bytes.
struct NodeHeader {
  uint32_t checksum;    // Seal of all that follows it up to the end of the slots; seed: TableSeed + place
  uint32_t node_bytes;  // multiple of 64
  uint32_t ordinal;     // 0, 1, 2 ... in key order
  uint16_t count;       // of entries, 1 or more
  uint16_t flags;
};
static_assert(sizeof(NodeHeader) == 16);
static_assert(offsetof(NodeHeader, node_bytes) == 4);
static_assert(offsetof(NodeHeader, ordinal) == 8);
static_assert(offsetof(NodeHeader, count) == 12);

// The node's first entry has the user key of the last entry of the node before.
inline constexpr uint16_t kNodeFirstContinues = 1;
// The first entry of the next node has the user key of this node's last entry.
inline constexpr uint16_t kNodeLastContinues = 2;

// Fingerprint and slot.
inline constexpr size_t kNodeBytesPerEntry = sizeof(uint8_t) + sizeof(uint16_t);

// An entry, unaligned: EntryHeader, key, then the value or a ValueReference.
struct EntryHeader {
  uint32_t checksum;  // Seal of the rest of the entry; seed: TableSeed
  uint32_t
      lengths;  // key bytes in bits 0-16, bytes after the key in bits 17-30, kEntryValueOutside in bit 31
  uint64_t tag;
};
static_assert(sizeof(EntryHeader) == 16);
static_assert(offsetof(EntryHeader, tag) == 8);

inline constexpr uint32_t kEntryKeyMask = (1u << 17) - 1;
inline constexpr int kEntryValueShift = 17;
inline constexpr uint32_t kEntryValueMask = (1u << 14) - 1;
inline constexpr uint32_t kEntryValueOutside = 1u << 31;

// Stands for a value that lies outside the nodes.
struct ValueReference {
  uint64_t place;  // unaligned; inside the table's nodes region, before the node
  uint32_t bytes;
  uint32_t checksum;  // Seal of the value; seed: TableSeed
};
static_assert(sizeof(ValueReference) == 16);

}  // namespace pmlsm
