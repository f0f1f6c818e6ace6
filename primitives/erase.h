// Erase from node (the paper's E8).
//
// Thread safety: that of the chain.
#pragma once

#include "pmlsm/status.h"
#include "primitives/node_chain.h"
#include "primitives/persister.h"
#include "util/check.h"

namespace pmlsm::primitives {

// `position` is in use. *node becomes the node without the entry.
// In place, with a bitmap, or at the end of a counted node: 1. Publish the word that no longer names it. With undo, in
// the midst of a counted node: 1. Fill the gap. 2. Publish the count. CRASH before the last: the entry is there.
// Else: ReplaceNode.
template <typename Chain>
Status EraseEntry(Chain* chain, typename Chain::Node** node, Position position) {
  using Node = typename Chain::Node;
  typename Node::PositionList gone;
  gone.Push(position);
  if (InPlace<typename Chain::Persister>((*node)->RemoveEffect(gone))) {
    (*node)->Remove(chain->persister(), gone);
    return chain->persister()->Commit();
  }
  Node image = **node;
  MemoryPersister in_memory;
  image.Remove(&in_memory, gone);
  return ReplaceNode(chain, node, image);
}

}  // namespace pmlsm::primitives
