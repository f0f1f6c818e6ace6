// SortedRep: the default memtable, a B+-tree in DRAM whose nodes are append-only.
//
// One writer; readers take no lock, never wait and never retry. Invariants:
// 1. A node covers a range [low, high) of internal keys that never changes. The children of an inner node
//    partition its range.
// 2. A slot of a node is written once, before the reference that counts it is published, and never again,
//    but for the child references of inner nodes, each of which is one atomic word. Hence a reference, once
//    loaded, is a snapshot: the slots that it counts are complete and fixed.
// 3. An insert appends a slot to a leaf and publishes it by one release store of the leaf's reference in its
//    parent (or root_). Slots below ref.sorted() are in order; the others are not.
// 4. A full node is not changed: copies that are sorted replace it, one or two that share its range. Its
//    content stays for readers that have come to it. Of two, the right one is published first: until the left
//    one takes the full node's place both hold the right half, and each is complete for what is looked up
//    there.
// 5. Every node that a reader meets was in the tree at some time after the reader started at root_: so it
//    holds all of its range that was inserted before. (By induction: a node that is replaced keeps the
//    references it had when it was replaced.)
// 6. A leaf's low, unless null, is its first entry for ever, so it is also the entry that follows the leaf to
//    its left.
// Nodes of invariant 4 stay until the rep is destroyed; they take about as much space as the nodes in use.
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
