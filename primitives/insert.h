// Insert in node (the paper's E4).
//
// Thread safety: that of the chain.
#pragma once

#include "pmlsm/status.h"
#include "primitives/node_chain.h"
#include "primitives/persister.h"
#include "util/check.h"

namespace pmlsm::primitives {

// *node has room, is the right one for the key, and does not hold it. *node becomes the node that does.
// In place: 1. Write the entry where no word names it. 2. Publish the word that does. CRASH before 2: no entry.
// Else: ReplaceNode.
template <typename Chain>
Status InsertEntry(Chain* chain, typename Chain::Node** node, const typename Chain::Node::Key& key,
                   const typename Chain::Node::Value& value) {
  using Node = typename Chain::Node;
  DCHECK((*node)->Count() < Node::kCapacity && (*node)->Find(key) == kNoPosition);
  typename Node::EntryBatch entry;
  entry.Push(key, value);
  if (InPlace<typename Chain::Persister>((*node)->AddEffect(entry))) {
    (*node)->Add(chain->persister(), entry);
    return chain->persister()->Commit();
  }
  Node image = **node;
  MemoryPersister in_memory;
  image.Add(&in_memory, entry);
  return ReplaceNode(chain, node, image);
}

}  // namespace pmlsm::primitives
