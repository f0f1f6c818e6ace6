// Iterate (the paper's E3): all entries of a chain, in the order of the bytes or of the keys. The first reads each
// node's arrays front to back, past a bitmap if there is one; the second goes through the slots, or sorts positions.
//
// Thread safety: read-only.
#pragma once

#include <algorithm>

#include "primitives/node_chain.h"
#include "primitives/node_parts.h"

namespace pmlsm::primitives {

// Calls visit(key, value) for each entry; nodes in order, entries of a node in no order.
template <typename Chain, typename Visit>
void ForEachEntry(const Chain& chain, const Visit& visit) {
  for (const auto* node = chain.first(); node != nullptr; node = chain.next(node)) {
    node->ForEach([&](Position p) { visit(node->keys[p], node->values[p]); });
  }
}

// The same with ascending keys.
template <typename Chain, typename Visit>
void ForEachEntryInOrder(const Chain& chain, const Visit& visit) {
  using Node = typename Chain::Node;
  for (const Node* node = chain.first(); node != nullptr; node = chain.next(node)) {
    typename Node::PositionList positions;
    node->AllPositions(&positions);
    if constexpr (!Node::kKeepsOrder) {
      std::sort(positions.at, positions.at + positions.size,
                [node](Position a, Position b) { return node->keys[a] < node->keys[b]; });
    }
    for (uint32_t i = 0; i < positions.size; ++i) {
      visit(node->keys[positions.at[i]], node->values[positions.at[i]]);
    }
  }
}

}  // namespace pmlsm::primitives
