// The persistent layout of a table's index (doc/FORMAT.md, "Index"). Constants and structs only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pmlsm {

// An index node starts at a multiple of 64 B: IndexHeader; the common prefix of its separators, zeros up to a
// multiple of 8; uint64_t heads[children - 1] (bytewise only); uint32_t children[children]; ends of the
// separators' rests, uint16_t (or uint32_t if wide) ends[children - 1]; the rests (separators without the
// common prefix), one after the other; zeros up to node_bytes.
// Separator i parts child i from child i + 1: keys below it are in the first, the others in the second.
struct IndexHeader {
  uint32_t checksum;        // Seal of all that follows it in the node; seed: TableSeed + place
  uint32_t node_bytes;      // multiple of 64
  uint32_t previous_bytes;  // node_bytes of the node before in the same level; 0 = none
  uint32_t common_bytes;    // of the common prefix
  uint16_t children;        // 1 or more
  uint8_t level;            // 0: children are data nodes
  uint8_t flags;
  uint32_t reserved;  // zero
};
static_assert(sizeof(IndexHeader) == 24);
static_assert(offsetof(IndexHeader, children) == 16);
static_assert(offsetof(IndexHeader, flags) == 19);

// The order is BytewiseComparator's: heads are there, the first 8 bytes of each rest as a big-endian number,
// zero-padded; and a common prefix is stripped.
inline constexpr uint8_t kIndexBytewise = 1;
inline constexpr uint8_t kIndexWide = 2;

// A child: its place in units of 64 B, and kChildAfter in the top bit: the separator before it itself is
// still in the child before (its versions continue here).
inline constexpr uint32_t kChildAfter = 1u << 31;

// The heads start at a multiple of 8.
inline constexpr size_t IndexRoundUp(size_t bytes) { return (bytes + 7) & ~size_t{7}; }

inline constexpr size_t kIndexNodeBytes = 1024;  // target; a node of two children may be larger

}  // namespace pmlsm
