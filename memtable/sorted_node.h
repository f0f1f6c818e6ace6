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
struct NodeBounds;

// How a node's words are made of keys (KeyOrder::Word). A node with two bounds leaves out what the bounds,
// hence all its keys, share. A node at the edge of the tree leaves out what the keys in it shared when it was
// made; keys that come later may not, so its words are clamped ones.
struct WordView {
  size_t skip = 0;  // bytes left out
  bool clamped = false;
};

// bits 0-5 slots | 6-47 address | 48-53 sorted slots | 54-61 skip | 62 clamped? | 63 leaf?
class NodeRef {
 public:
  static constexpr size_t kSlotsMax = 63;
  static constexpr size_t kSkipMax = 255;

  NodeRef() = default;
  NodeRef(const Leaf* node, size_t slots, WordView view) : NodeRef(node, slots, view, kLeafBit) {}
  NodeRef(const Inner* node, size_t slots, WordView view) : NodeRef(node, slots, view, 0) {}

  bool is_leaf() const { return (bits_ & kLeafBit) != 0; }
  size_t slots() const { return bits_ & kSlotsMax; }
  // The first slots, in order; the rest is as it was appended.
  size_t sorted() const { return (bits_ >> kSortedShift) & kSlotsMax; }
  WordView view() const { return WordView{(bits_ >> kSkipShift) & kSkipMax, (bits_ & kClampedBit) != 0}; }
  Leaf* leaf() const { return reinterpret_cast<Leaf*>(bits_ & kAddressMask); }
  Inner* inner() const { return reinterpret_cast<Inner*>(bits_ & kAddressMask); }

  const NodeBounds* bounds() const;

  NodeRef WithMoreSlots(size_t added) const {
    NodeRef ref = *this;
    ref.bits_ += added;
    return ref;
  }

 private:
  static constexpr int kSortedShift = 48;
  static constexpr int kSkipShift = 54;
  static constexpr uint64_t kClampedBit = uint64_t{1} << 62;
  static constexpr uint64_t kLeafBit = uint64_t{1} << 63;
  static constexpr uint64_t kAddressMask = (uint64_t{1} << kSortedShift) - 1 - kSlotsMax;

  NodeRef(const void* node, size_t slots, WordView view, uint64_t leaf_bit)
      : bits_(reinterpret_cast<uintptr_t>(node) | slots | (uint64_t{slots} << kSortedShift) |
              (uint64_t{view.skip} << kSkipShift) | (view.clamped ? kClampedBit : 0) | leaf_bit) {
    CHECK((reinterpret_cast<uintptr_t>(node) & ~kAddressMask) == 0);
    DCHECK(slots <= kSlotsMax && view.skip <= kSkipMax);
  }

  uint64_t bits_ = 0;
};
static_assert(sizeof(NodeRef) == 8 && std::atomic<NodeRef>::is_always_lock_free);

struct Slot {
  uint64_t word;
  const MemEntry* entry;
};

struct NodeBounds {
  // The node's range is [low, high) in internal order; null = no bound. It never changes.
  const MemEntry* low;
  const MemEntry* high;
  const char* prefix;  // of clamped words: the `skip` bytes that are left out
};

struct alignas(64) Leaf : NodeBounds {  // low, unless null, is its first entry
  static constexpr size_t kSlots = 62;

  uint64_t words[kSlots];
  const MemEntry* entries[kSlots];

  Slot slot(size_t i) const { return Slot{words[i], entries[i]}; }
};

// Slot i leads to the keys from separators[i] up to the next separator. Of equal separators the last one
// counts.
struct alignas(64) Inner : NodeBounds {
  static constexpr size_t kSlots = 60;
  static constexpr size_t kAppendedMax = 12;  // then the node is replaced by a sorted copy

  uint64_t words[kSlots];
  const MemEntry* separators[kSlots];  // [0] is low
  std::atomic<NodeRef> children[kSlots];
};

inline const NodeBounds* NodeRef::bounds() const {
  return is_leaf() ? static_cast<const NodeBounds*>(leaf()) : inner();
}

}  // namespace pmlsm
