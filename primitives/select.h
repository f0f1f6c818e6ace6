// Which entries an operation moves: the lowest or the highest ones of a node. Where the layout keeps an order they
// are there for the taking; else a quickselect finds them, over the keys in place.
//
// Thread safety: read-only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "primitives/node_parts.h"

namespace pmlsm::primitives {

namespace select_internal {

// Positions of all entries, the lowest `low` ones first.
template <typename Node>
typename Node::PositionList Partition(const Node& node, uint32_t low) {
  typename Node::PositionList all;
  node.AllPositions(&all);
  if constexpr (!Node::kKeepsOrder) {
    if (low < all.size) {
      std::nth_element(all.at, all.at + low, all.at + all.size,
                       [&node](Position a, Position b) { return node.keys[a] < node.keys[b]; });
    }
  }
  return all;
}

}  // namespace select_internal

// count <= node.Count(). Ascending by key where the layout keeps an order.
template <typename Node>
typename Node::PositionList Lowest(const Node& node, uint32_t count) {
  typename Node::PositionList chosen = select_internal::Partition(node, count);
  chosen.size = count;
  return chosen;
}

template <typename Node>
typename Node::PositionList Highest(const Node& node, uint32_t count) {
  const typename Node::PositionList all = select_internal::Partition(node, node.Count() - count);
  typename Node::PositionList chosen;
  for (uint32_t i = all.size - count; i < all.size; ++i) chosen.Push(all.at[i]);
  return chosen;
}

template <typename Node>
typename Node::EntryBatch Gather(const Node& node, const typename Node::PositionList& positions) {
  typename Node::EntryBatch batch;
  for (uint32_t i = 0; i < positions.size; ++i) {
    batch.Push(node.keys[positions.at[i]], node.values[positions.at[i]]);
  }
  return batch;
}

}  // namespace pmlsm::primitives
