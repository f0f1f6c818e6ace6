// Nodes of the sorted memtable's B+-tree, and the one-word references that publish them.
//
// A node's slots are only ever appended. A NodeRef holds the number of slots that exist, so one release store
// of a reference publishes a new slot, and one acquire load of it gives a snapshot of the node.
#pragma once

#include <atomic>
#include <cstdint>

#include "memtable/entry.h"
#include "util/check.h"

namespace pmlsm {

struct Leaf;
struct Inner;

// bits 0-5 slots | 6-47 address | 48-53 sorted slots | 54-62 skip | 63 leaf?
class NodeRef {
 public:
  static constexpr size_t kSlotsMax = 63;
  static constexpr size_t kSkipMax = 511;

  NodeRef() = default;
  NodeRef(const Leaf* node, size_t slots, size_t skip) : NodeRef(node, slots, skip, kLeafBit) {}
  NodeRef(const Inner* node, size_t slots, size_t skip) : NodeRef(node, slots, skip, 0) {}

  bool is_leaf() const { return (bits_ & kLeafBit) != 0; }
  size_t slots() const { return bits_ & kSlotsMax; }
  // The first slots, in order; the rest is as it was appended.
  size_t sorted() const { return (bits_ >> kSortedShift) & kSlotsMax; }
  // Bytes that all keys of the node share and that its words leave out.
  size_t skip() const { return (bits_ >> kSkipShift) & kSkipMax; }
  Leaf* leaf() const { return reinterpret_cast<Leaf*>(bits_ & kAddressMask); }
  Inner* inner() const { return reinterpret_cast<Inner*>(bits_ & kAddressMask); }

  NodeRef WithOneMoreSlot() const {
    NodeRef ref = *this;
    ++ref.bits_;
    return ref;
  }

 private:
  static constexpr int kSortedShift = 48;
  static constexpr int kSkipShift = 54;
  static constexpr uint64_t kLeafBit = uint64_t{1} << 63;
  static constexpr uint64_t kAddressMask = (uint64_t{1} << kSortedShift) - 1 - kSlotsMax;

  NodeRef(const void* node, size_t slots, size_t skip, uint64_t leaf_bit)
      : bits_(reinterpret_cast<uintptr_t>(node) | slots | (uint64_t{slots} << kSortedShift) |
              (uint64_t{skip} << kSkipShift) | leaf_bit) {
    CHECK((reinterpret_cast<uintptr_t>(node) & ~kAddressMask) == 0);
    DCHECK(slots <= kSlotsMax && skip <= kSkipMax);
  }

  uint64_t bits_ = 0;
};
static_assert(sizeof(NodeRef) == 8 && std::atomic<NodeRef>::is_always_lock_free);

struct Slot {
  uint64_t word;
  const MemEntry* entry;
};

// A node's range is [low, high) in internal order; null = no bound. It never changes.
struct alignas(64) Leaf {
  static constexpr size_t kSlots = 62;

  const MemEntry* low;  // unless null, the leaf's first entry
  const MemEntry* high;
  Slot slots[kSlots];
};

// Slot i leads to the keys from separators[i] up to the next separator.
struct alignas(64) Inner {
  static constexpr size_t kSlots = 60;
  static constexpr size_t kAppendedMax = 8;  // then the node is replaced by a sorted copy

  const MemEntry* low;
  const MemEntry* high;
  uint64_t words[kSlots];
  const MemEntry* separators[kSlots];  // [0] is low
  std::atomic<NodeRef> children[kSlots];
};

}  // namespace pmlsm
