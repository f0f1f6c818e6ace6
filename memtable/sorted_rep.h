// SortedRep: the default memtable, a B+-tree in DRAM whose nodes are append-only.
//
// One writer; readers take no lock, never wait and never retry. Invariants:
// 1. A node covers a range [low, high) of internal keys that never changes.
// 2. A slot of a node is written before the reference that counts it is published, and never changes, but for
//    the child references of inner nodes. Each of those is one atomic word, and is only ever replaced by a
//    reference that covers the same range: the same node with more slots, or a sorted copy of it.
// 3. Hence a reference, once loaded, is a snapshot. A leaf's entries are fixed by it. The slots of an inner
// node
//    that it counts part the node's range among the children; of slots with equal separators the last one
//    counts.
// 4. An insert appends a slot to a leaf and publishes it by one release store of the leaf's reference in its
//    parent (or root_). Slots below ref.sorted() are in order; the others are not.
// 5. A full node is not changed. Sorted copies of its two halves are appended to its parent, the left one
// with
//    the full node's separator, by one release store; whoever has an older snapshot of the parent still comes
//    to the full node. (To put the left half in the full node's slot would break 2 and 3: a reader that chose
//    the slot by the older snapshot would look for the right half's keys in the left one.)
// 6. Every node that a reader meets was in the tree at some time after the reader started at root_, or still
//    has all that it held then: so the reader finds in it all of its range that was inserted before.
// 7. A leaf's low, unless null, is its first entry for ever, so it is also the entry that follows the leaf to
//    its left. A bound, once it exists, stays a bound.
// Nodes that were replaced stay until the rep is destroyed; they take about as much space as those in use.
#pragma once

#include <atomic>
#include <memory>

#include "memtable/entry.h"
#include "memtable/key_order.h"
#include "memtable/memtable_rep.h"
#include "memtable/sorted_node.h"
#include "util/arena.h"

namespace pmlsm {

class SortedRep final : public MemTableRep {
 public:
  explicit SortedRep(const Comparator* comparator);

  void Insert(const Slice& key, Tag tag, const Slice& value) override;
  bool Get(const Slice& key, SequenceNumber snapshot, Entry* entry) const override;
  std::unique_ptr<InternalIterator> NewIterator() const override;
  size_t ApproximateBytes() const override {
    return entry_arena_.bytes_in_use() + node_arena_.bytes_in_use();
  }
  size_t entries() const override { return entries_.load(std::memory_order_relaxed); }

 private:
  class Iterator;
  struct Target;
  struct Path;
  struct InnerSlot;

  // --- Readers ---

  // The leaf whose range holds the target (or, for a target.before, what lies right before it).
  NodeRef FindLeaf(const Target& target) const;
  NodeRef FirstLeaf() const;
  NodeRef LastLeaf() const;
  size_t ChildIndex(const Inner& node, NodeRef ref, uint64_t word, const Target& target) const;
  bool Leads(const MemEntry& separator, const Target& target) const;
  // The first of the leaf's sorted entries that is >= (key, tag); null if it cannot have this key.
  const MemEntry* FindInSorted(const Leaf& leaf, NodeRef ref, uint64_t word, const Slice& key, Tag tag) const;
  bool SeparatorBefore(const MemEntry* a, const MemEntry* b) const;
  // Copies a leaf's slots in order; returns how many.
  size_t CopySorted(NodeRef ref, Slot* to) const;
  uint64_t WordIn(NodeRef ref, const Slice& key) const {
    const WordView view = ref.view();
    if (__builtin_expect(!view.clamped, 1)) return order_.Word(key, view.skip);
    return order_.ClampedWord(key, Slice(ref.bounds()->prefix, view.skip));
  }
  bool Before(const Slot& a, const Slot& b) const {
    return a.word < b.word || (a.word == b.word && order_.Compare(*a.entry, *b.entry) < 0);
  }

  // --- The writer ---

  void SplitLeaf(Path* path, const Slot& added);
  static InnerSlot SlotOf(const Inner& node, size_t i);
  // Puts left, or left and right, which starts at separator, in the place of the node at the path's end.
  void Replace(Path* path, NodeRef left);
  void Replace(Path* path, NodeRef left, const MemEntry* separator, NodeRef right);
  void SplitInner(Path* path, NodeRef left, const MemEntry* separator, NodeRef right);
  // Sorted nodes of slots that come from the node `from`, with its kind of words.
  NodeRef NewLeaf(const Slot* slots, size_t n, const NodeBounds& bounds, NodeRef from);
  NodeRef NewInner(const InnerSlot* slots, size_t n, const NodeBounds& bounds, NodeRef from);
  // The best words for a new node whose entries lie in [first, last], and whether they have them already.
  // Sets bounds->prefix.
  WordView ChooseView(const MemEntry* first, const MemEntry* last, NodeRef from, NodeBounds* bounds,
                      bool* same_words) const;

  const KeyOrder order_;
  Arena entry_arena_;
  Arena node_arena_;
  std::atomic<NodeRef> root_;
  std::atomic<size_t> entries_{0};
};

}  // namespace pmlsm
