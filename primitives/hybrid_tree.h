// HybridTree: a B+-tree whose leaves are a NodeChain in PMem, in any layout and with any persister, and whose inner
// nodes are InnerLevels in DRAM or PMem, which recovery builds from the leaves (the paper's section 6, after Oukid et
// al.). Leaves come from groups (node_arena.h).
//
// A change of content is one change of a leaf, so it is durable and atomic as far as the persister makes it so. Splits,
// balances and merges change no content. The inner nodes follow, in DRAM or without failure atomicity: CRASH before
// they do: recovery builds them from the leaves as they are.
//
// Inner nodes are not merged: where most keys of a part of the tree are erased, its inner nodes stay, with few
// children, until the next recovery.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "pmlsm/status.h"
#include "primitives/balance.h"
#include "primitives/erase.h"
#include "primitives/inner_levels.h"
#include "primitives/insert.h"
#include "primitives/iterate.h"
#include "primitives/merge_nodes.h"
#include "primitives/node_chain.h"
#include "primitives/select.h"
#include "primitives/split.h"

namespace pmlsm::primitives {

template <typename Chain, typename Inners>
class HybridTree {
 public:
  using Leaf = typename Chain::Node;
  using Key = typename Leaf::Key;
  using Value = typename Leaf::Value;

  // Both outlive the tree, and so does the arena that the chain takes leaves from.
  HybridTree(Chain* chain, NodeArena* leaves, Inners* inners)
      : chain_(chain), leaves_(leaves), inners_(inners) {}

  // An empty tree over a chain that is none yet.
  Status Create() {
    Status status = chain_->Create();
    return status.ok() ? BuildInners() : status;
  }
  // After each mapping of the memory, before any use, as NodeChain::Recover. Leaves that are empty go.
  Status Recover(Store* store) {
    Status status = chain_->Recover(store);
    return status.ok() ? BuildInners() : status;
  }

  // Null if the key is not there.
  const Value* Find(const Key& key) {
    const Leaf* const leaf = Descend(key);
    const Position position = leaf->Find(key);
    return position == kNoPosition ? nullptr : &leaf->values[position];
  }

  // *inserted: the key was not there. NoSpace: nothing has changed.
  Status Insert(const Key& key, const Value& value, bool* inserted) {
    Leaf* leaf = Descend(key);
    *inserted = leaf->Find(key) == kNoPosition;
    if (!*inserted) return Status::OK();
    Status status = leaves_->Reserve(kLeavesAChange);
    if (status.ok() && leaf->Count() == Leaf::kCapacity) {
      status = Split(leaf);
      leaf = Descend(key);
    }
    return status.ok() ? Changed(leaf, [&](Leaf** node) { return InsertEntry(chain_, node, key, value); })
                       : status;
  }

  // *erased: the key was there.
  Status Erase(const Key& key, bool* erased) {
    Leaf* const leaf = Descend(key);
    const Position position = leaf->Find(key);
    *erased = position != kNoPosition;
    if (!*erased) return Status::OK();
    Status status = leaves_->Reserve(kLeavesAChange);
    if (status.ok()) status = Changed(leaf, [&](Leaf** node) { return EraseEntry(chain_, node, position); });
    return status.ok() ? EndUnderflow(key) : status;
  }

  // Calls visit(key, value) with ascending keys.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    ForEachEntryInOrder(*chain_, visit);
  }

  const Inners& inners() const { return *inners_; }

 private:
  // Of two nodes written anew, and two split off.
  static constexpr uint64_t kLeavesAChange = 4;

  Leaf* Descend(const Key& key) { return chain_->At(inners_->Descend(key, &path_)); }

  // A change of the leaf at the end of path_, which may write it anew.
  template <typename Change>
  Status Changed(Leaf* leaf, const Change& change) {
    Leaf* now = leaf;
    Status status = change(&now);
    return status.ok() && now != leaf ? inners_->SetLeaf(path_, chain_->OffsetOf(now)) : status;
  }

  Key SmallestOf(const Leaf& leaf) const { return leaf.keys[Lowest(leaf, 1).at[0]]; }

  // The leaf at the end of path_.
  Status Split(Leaf* leaf) {
    Status status = inners_->ReserveForInsert(kLeavesAChange);
    if (!status.ok()) return status;
    Leaf* right = nullptr;
    status = Changed(leaf, [&](Leaf** node) { return SplitByMove(chain_, node, &right); });
    return status.ok() ? inners_->Insert(path_, {SmallestOf(*right), chain_->OffsetOf(right)}) : status;
  }

  // A leaf that is less than a quarter full is merged with a neighbour below the same parent, or gets half of what that
  // one has more.
  Status EndUnderflow(const Key& key) {
    Leaf* const leaf = Descend(key);
    if (leaf->Count() >= Leaf::kCapacity / 4 || path_.empty()) return Status::OK();
    const auto [parent, child] = path_.back();
    if (parent->Count() < 2) return Status::OK();
    const Position left_child = child + 1 < parent->Count() ? child : child - 1;
    Leaf* left = chain_->At(parent->values[left_child]);
    Leaf* right = chain_->At(parent->values[left_child + 1]);
    if (left->Count() + right->Count() <= Leaf::kCapacity) {
      Status status = MergeNodes(chain_, &left, right);
      if (status.ok()) status = inners_->SetChild(parent, left_child, chain_->OffsetOf(left));
      return status.ok() ? inners_->Remove(parent, left_child + 1) : status;
    }
    const bool to_left = left->Count() < right->Count();
    const uint32_t more = to_left ? right->Count() - left->Count() : left->Count() - right->Count();
    Status status = BalanceNodes(chain_, &left, &right, to_left ? Towards::kLeft : Towards::kRight, more / 2);
    if (status.ok()) status = inners_->SetChild(parent, left_child, chain_->OffsetOf(left));
    if (status.ok()) status = inners_->SetChild(parent, left_child + 1, chain_->OffsetOf(right));
    return status.ok() ? inners_->SetBound(parent, left_child + 1, SmallestOf(*right)) : status;
  }

  // Not quite full, so that the first inserts do not split every node.
  Status BuildInners() {
    std::vector<typename Inners::Child> children = {{Key{0}, chain_->OffsetOf(chain_->first())}};
    Leaf* before = chain_->first();
    for (Leaf* leaf = chain_->next(before); leaf != nullptr; leaf = chain_->next(before)) {
      if (leaf->Count() == 0) {
        Status status = MergeNodes(chain_, &before, leaf);
        if (!status.ok()) return status;
        continue;
      }
      children.emplace_back(SmallestOf(*leaf), chain_->OffsetOf(leaf));
      before = leaf;
    }
    return inners_->Build(std::move(children), Inners::Inner::kCapacity * 3 / 4);
  }

  Chain* const chain_;
  NodeArena* const leaves_;
  Inners* const inners_;
  typename Inners::Path path_;  // of the last Descend
};

}  // namespace pmlsm::primitives
