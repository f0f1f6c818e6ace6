// InnerLevels: the inner nodes of a B+-tree over a chain of leaves. Nothing in them is needed after a crash: recovery
// builds them anew from the leaves. So they may lie in DRAM (MemoryPersister), or in PMem without failure atomicity
// (ManualPersister), as the paper's placement has it (sections 4 and 5.2).
//
// An inner node is a SortedNode from lower bounds to children: leaves, or inner nodes one level down.
//
// Invariants: 1. A node's first key is the bound that its parent has for it; that of a leftmost node is 0. 2. A node
// has a child. 3. All leaves are `depth` nodes away from the root.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "pmlsm/status.h"
#include "primitives/node_arena.h"
#include "primitives/node_parts.h"
#include "primitives/persister.h"
#include "primitives/search.h"
#include "primitives/sorted_node.h"
#include "util/check.h"

namespace pmlsm::primitives {

template <typename K, typename PersisterType, size_t kBytes>
class InnerLevels {
 public:
  static_assert(std::is_unsigned_v<K>, "0 is the least key");
  using Persister = PersisterType;
  using Inner = SortedNode<K, uint64_t, kBytes>;
  // A bound and the child behind it.
  using Child = std::pair<K, uint64_t>;

  // The way from the root to a leaf: the child that was taken in each node.
  struct Step {
    Inner* node;
    Position child;
  };
  using Path = std::vector<Step>;

  // Offsets of inner nodes count from `memory`.
  InnerLevels(char* memory, NodeArena* arena, Persister* persister)
      : memory_(memory), arena_(arena), persister_(persister) {}

  int depth() const { return depth_; }
  // Of the only leaf, if depth() is 0.
  uint64_t root() const { return root_; }
  Inner* At(uint64_t offset) const { return reinterpret_cast<Inner*>(memory_ + offset); }

  // The leaf for a key.
  uint64_t Descend(const K& key, Path* path) const {
    path->clear();
    uint64_t offset = root_;
    for (int level = 0; level < depth_; ++level) {
      Inner* const node = At(offset);
      const Position child = ChildFor(*node, key);
      path->push_back({node, child});
      offset = node->values[child];
    }
    return offset;
  }

  // The leaf at the end of the path has moved.
  Status SetLeaf(const Path& path, uint64_t leaf) {
    if (path.empty()) {
      root_ = leaf;
      return Status::OK();
    }
    return SetChild(path.back().node, path.back().child, leaf);
  }
  Status SetChild(Inner* node, Position child, uint64_t offset) {
    persister_->Overwrite(&node->values[child], &offset, sizeof(offset));
    return persister_->Commit();
  }
  // Of a child that is not its parent's first.
  Status SetBound(Inner* node, Position child, const K& bound) {
    DCHECK(child > 0);
    persister_->Overwrite(&node->keys[child], &bound, sizeof(bound));
    return persister_->Commit();
  }
  Status Remove(Inner* node, Position child) {
    DCHECK(child > 0);
    typename Inner::PositionList gone;
    gone.Push(child);
    node->Remove(persister_, gone);
    return persister_->Commit();
  }

  // Nodes for an Insert, whatever it has to split, and `others`, if the arena is that of the leaves, too. After this
  // it does not fail for lack of them.
  Status ReserveForInsert(uint64_t others) {
    return arena_->Reserve(static_cast<uint64_t>(depth_) + 1 + others);
  }
  // A leaf behind the one at the end of the path. Full nodes on the way up are split.
  Status Insert(const Path& path, Child child) {
    for (size_t level = path.size(); level > 0; --level) {
      Inner* const node = path[level - 1].node;
      if (node->Count() < Inner::kCapacity) return Add(node, child);
      Status status = Split(node, &child);
      if (!status.ok()) return status;
    }
    return GrowRoot({{K{0}, root_}, child});
  }

  // All levels anew over these leaves, the first of which has the bound 0, with at most `fill` children a node. Nodes
  // that were there before belong to the arena again: that is the caller's to see to.
  Status Build(std::vector<Child> children, uint32_t fill) {
    CHECK(!children.empty() && fill >= 2 && fill <= Inner::kCapacity);
    depth_ = 0;
    while (children.size() > 1) {
      std::vector<Child> parents;
      for (size_t first = 0; first < children.size(); first += fill) {
        const auto begin = children.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end = children.size() - first > fill ? begin + fill : children.end();
        uint64_t offset = 0;
        Status status = Write(begin, end, &offset);
        if (!status.ok()) return status;
        parents.emplace_back(begin->first, offset);
      }
      children = std::move(parents);
      ++depth_;
    }
    root_ = children.front().second;
    return Status::OK();
  }

 private:
  // The last child whose bound is not greater. What is below the first bound of a leftmost node does not exist.
  static Position ChildFor(const Inner& node, const K& key) {
    const Position rank = BinarySearch(node.keys, node.Count(), key);
    if (rank < node.Count() && node.keys[rank] == key) return rank;
    return rank == 0 ? 0 : rank - 1;
  }

  Status Add(Inner* node, const Child& child) {
    typename Inner::EntryBatch entry;
    entry.Push(child.first, child.second);
    node->Add(persister_, entry);
    return persister_->Commit();
  }

  template <typename Iterator>
  Status Write(Iterator begin, Iterator end, uint64_t* offset) {
    Inner image = {};
    MemoryPersister in_memory;
    typename Inner::EntryBatch batch;
    for (Iterator child = begin; child != end; ++child) batch.Push(child->first, child->second);
    image.Add(&in_memory, batch);
    Status status = arena_->Allocate(offset);
    if (!status.ok()) return status;
    persister_->WriteFresh(At(*offset), &image, sizeof(image));
    return persister_->Commit();
  }

  // The upper half goes to a new node, and *child to the half where it belongs. *child becomes the new node.
  Status Split(Inner* node, Child* child) {
    const Position middle = node->Count() / 2;
    std::vector<Child> upper;
    typename Inner::PositionList gone;
    for (Position p = middle; p < node->Count(); ++p) {
      upper.emplace_back(node->keys[p], node->values[p]);
      gone.Push(p);
    }
    const bool goes_up = !(child->first < upper.front().first);
    if (goes_up) {
      auto place = upper.begin();
      while (place != upper.end() && place->first < child->first) ++place;
      upper.insert(place, *child);
    }
    uint64_t offset = 0;
    Status status = Write(upper.begin(), upper.end(), &offset);
    if (!status.ok()) return status;
    node->Remove(persister_, gone);
    status = persister_->Commit();
    if (status.ok() && !goes_up) status = Add(node, *child);
    *child = {upper.front().first, offset};
    return status;
  }

  Status GrowRoot(const std::vector<Child>& children) {
    uint64_t offset = 0;
    Status status = Write(children.begin(), children.end(), &offset);
    if (!status.ok()) return status;
    root_ = offset;
    ++depth_;
    return status;
  }

  char* const memory_;
  NodeArena* const arena_;
  Persister* const persister_;
  uint64_t root_ = 0;
  int depth_ = 0;
};

}  // namespace pmlsm::primitives
