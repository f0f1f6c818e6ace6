// Merge nodes (the paper's E10): all entries of a node move to the one before it, the direction in which no layout has
// to shift any.
//
// Thread safety: that of the chain.
#pragma once

#include "pmlsm/status.h"
#include "primitives/node_chain.h"
#include "primitives/node_parts.h"
#include "primitives/persister.h"
#include "primitives/select.h"
#include "util/check.h"

namespace pmlsm::primitives {

// `right` follows *left, which has room for all its entries. *left becomes the node that holds them; `right` is free.
// In place: 1. Write the entries where no word names them. 2. Publish the words that do, and the link past the right
// node. CRASH before 2: both nodes are as they were. Else: 1. Write the left node anew, linked past the right one.
// 2. Publish the link to it.
template <typename Chain>
Status MergeNodes(Chain* chain, typename Chain::Node** left, typename Chain::Node* right) {
  using Node = typename Chain::Node;
  DCHECK((*left)->Count() + right->Count() <= Node::kCapacity);
  Node* const after = chain->next(right);
  const uint64_t after_offset = right->siblings.next.offset;
  const typename Node::EntryBatch moved = Gather(*right, Lowest(*right, right->Count()));
  auto* const persister = chain->persister();
  Status status;
  if (moved.size == 0) {
    persister->Stage(&(*left)->siblings.next.offset, after_offset);
    status = persister->Commit();
  } else if (InPlace<typename Chain::Persister>((*left)->AddEffect(moved) + Effect{false, 1})) {
    (*left)->Add(persister, moved);
    persister->Stage(&(*left)->siblings.next.offset, after_offset);
    status = persister->Commit();
  } else {
    Node image = **left;
    MemoryPersister in_memory;
    image.Add(&in_memory, moved);
    image.siblings.next.offset = after_offset;
    status = ReplaceNode(chain, left, image);
  }
  if (!status.ok()) return status;
  chain->SetPrevious(after, *left);
  chain->Free(right);
  return status;
}

}  // namespace pmlsm::primitives
