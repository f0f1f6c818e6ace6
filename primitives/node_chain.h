// NodeChain: the leaf level of a tree. Nodes with ascending, disjoint key ranges, linked by siblings.next; a word
// outside, the head, leads to the first. What operations on nodes (insert.h, erase.h, split.h, balance.h,
// merge_nodes.h) have in common: where a node hangs, where new ones come from, by what means changes are made durable.
//
// A node is changed in place if the persister can: it has undo, or the change takes only as many words as it can
// publish at once. Else a changed copy is made, in DRAM, streamed to a free node, and put in its place by the one word
// that leads to it.
//
// Invariants: 1. The chain from the head is whole and in order after any crash. 2. A node is used by the chain or free
// in the arena. 3. siblings.previous mirrors siblings.next, but for a crash, after which Recover sets it right.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "pmem/store.h"
#include "pmlsm/status.h"
#include "primitives/node_arena.h"
#include "primitives/node_parts.h"
#include "util/check.h"

namespace pmlsm::primitives {

// Whether a change can be made in the nodes themselves.
template <typename P>
constexpr bool InPlace(const Effect& effect) {
  return P::kUndo || (!effect.overwrites && effect.words <= P::kWordsMax);
}

template <typename NodeType, typename PersisterType>
class NodeChain {
 public:
  using Node = NodeType;
  using Persister = PersisterType;

  // Offsets count from `memory`, which outlives the chain, as do the others.
  NodeChain(char* memory, uint64_t* head, NodeArena* arena, Persister* persister)
      : memory_(memory), head_(head), arena_(arena), persister_(persister) {}

  // Of one empty node; *head is 0. 1. Write the node, fenced. 2. Publish the head. CRASH before 2: no chain.
  Status Create() {
    CHECK(*head_ == 0);
    const Node empty = {};
    Node* node = nullptr;
    Status status = WriteCompact(empty, &node);
    if (!status.ok()) return status;
    persister_->Stage(head_, OffsetOf(node));
    return persister_->Commit();
  }

  // After each mapping of the memory, after PMwCAS's recovery, before any use: repairs nodes, sets back links, gives
  // all that is not reached to the arena. Corruption if a link or a node is not sound.
  Status Recover(Store* store) {
    std::set<uint64_t> used;
    uint64_t previous = 0;
    for (uint64_t offset = *head_; offset != 0; offset = At(offset)->siblings.next.offset) {
      const std::string what = "node at offset " + std::to_string(offset);
      if (!arena_->IsNode(offset)) return Status::Corruption(what, "is outside all groups");
      if (!used.insert(offset).second) return Status::Corruption(what, "is in the chain twice");
      Node* const node = At(offset);
      Status status = node->Repair(store);
      if (!status.ok()) return status;
      if (!node->Check()) return Status::Corruption(what, "is not sound");
      if (previous != 0 && !AllSmaller(*At(previous), *node)) {
        return Status::Corruption(what, "has keys that belong into the node before");
      }
      if (node->siblings.previous.offset != previous) {
        store->Store8(&node->siblings.previous.offset, previous);
        store->FlushLines(&node->siblings.previous.offset, sizeof(uint64_t));
      }
      previous = offset;
    }
    arena_->Rebuild(used);
    return store->Fence();
  }

  Node* At(uint64_t offset) const { return reinterpret_cast<Node*>(memory_ + offset); }
  uint64_t OffsetOf(const Node* node) const { return reinterpret_cast<const char*>(node) - memory_; }
  Node* first() const { return Follow(*head_); }
  Node* next(const Node* node) const { return Follow(node->siblings.next.offset); }
  Node* previous(const Node* node) const { return Follow(node->siblings.previous.offset); }
  Persister* persister() const { return persister_; }

  // The word that leads to the node.
  uint64_t* LinkTo(const Node* node) const {
    Node* const before = previous(node);
    return before == nullptr ? head_ : &before->siblings.next.offset;
  }

  // A new node, a copy of `image`; nothing reaches it. All bytes are written, in order.
  Status WriteWhole(const Node& image, Node** node) {
    Status status = Allocate(node);
    if (status.ok()) persister_->StreamFresh(*node, &image, sizeof(Node));
    return status;
  }
  // The same where positions 0 .. count - 1 are in use, and only these are written.
  Status WriteCompact(const Node& image, Node** node) {
    Status status = Allocate(node);
    if (!status.ok()) return status;
    const size_t metadata = reinterpret_cast<const char*>(image.keys) - reinterpret_cast<const char*>(&image);
    persister_->WriteFresh(*node, &image, metadata);
    persister_->WriteFresh((*node)->keys, image.keys, image.Count() * sizeof(image.keys[0]));
    persister_->WriteFresh((*node)->values, image.values, image.Count() * sizeof(image.values[0]));
    return status;
  }
  // A copy of a node, changed in DRAM.
  Status WriteImage(const Node& image, Node** node) {
    return Node::kPositionsStay ? WriteWhole(image, node) : WriteCompact(image, node);
  }

  // `node` follows `before` (null: it is the first). To be called after the commit that made it so.
  void SetPrevious(Node* node, const Node* before) {
    if (node == nullptr) return;
    persister_->Hint(&node->siblings.previous.offset, before == nullptr ? 0 : OffsetOf(before));
  }
  // After the commit that cut it off.
  void Free(const Node* node) { arena_->Free(OffsetOf(node)); }

 private:
  Node* Follow(uint64_t offset) const { return offset == 0 ? nullptr : At(offset); }
  Status Allocate(Node** node) {
    uint64_t offset = 0;
    Status status = arena_->Allocate(&offset);
    if (status.ok()) *node = At(offset);
    return status;
  }
  static bool AllSmaller(const Node& left, const Node& right) {
    Position largest = kNoPosition;
    left.ForEach([&](Position p) {
      if (largest == kNoPosition || left.keys[largest] < left.keys[p]) largest = p;
    });
    bool sound = true;
    right.ForEach(
        [&](Position p) { sound = sound && (largest == kNoPosition || left.keys[largest] < right.keys[p]); });
    return sound;
  }

  char* const memory_;
  uint64_t* const head_;
  NodeArena* const arena_;
  Persister* const persister_;
};

// Puts `image`, a changed copy of *node, in its place. *node becomes the new one.
// 1. Write the image to a free node. 2. Publish the link to it. CRASH before 2: the old node counts.
template <typename Chain>
Status ReplaceNode(Chain* chain, typename Chain::Node** node, const typename Chain::Node& image) {
  typename Chain::Node* const old_node = *node;
  typename Chain::Node* fresh = nullptr;
  Status status = chain->WriteImage(image, &fresh);
  if (!status.ok()) return status;
  chain->persister()->Stage(chain->LinkTo(old_node), chain->OffsetOf(fresh));
  status = chain->persister()->Commit();
  if (!status.ok()) return status;
  chain->SetPrevious(chain->next(fresh), fresh);
  chain->Free(old_node);
  *node = fresh;
  return status;
}

}  // namespace pmlsm::primitives
