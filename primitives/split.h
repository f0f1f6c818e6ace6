// Node split (the paper's E5), by move or by copy: the upper half of a full node goes to a new one behind it.
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

namespace split_internal {

// `right` is written and holds what is in `gone` of *left. In place: 1. Take these out of the left node. 2. Publish
// its words and its link to the right one. CRASH before 2: the left node has all. Else: 1. Write the left node anew,
// linked to the right one. 2. Publish the link to it.
template <typename Chain>
Status CutOff(Chain* chain, typename Chain::Node** left, typename Chain::Node* right,
              const typename Chain::Node::PositionList& gone) {
  using Node = typename Chain::Node;
  Node* const after = chain->next(right);
  auto* const persister = chain->persister();
  Status status;
  if (InPlace<typename Chain::Persister>((*left)->RemoveEffect(gone) + Effect{false, 1})) {
    (*left)->Remove(persister, gone);
    persister->Stage(&(*left)->siblings.next.offset, chain->OffsetOf(right));
    status = persister->Commit();
  } else {
    Node image = **left;
    MemoryPersister in_memory;
    image.Remove(&in_memory, gone);
    image.siblings.next.offset = chain->OffsetOf(right);
    status = ReplaceNode(chain, left, image);
  }
  if (!status.ok()) {
    chain->Free(right);
    return status;
  }
  chain->SetPrevious(right, *left);
  chain->SetPrevious(after, right);
  return status;
}

}  // namespace split_internal

// Writes only the entries that move. *node becomes the left one; it has at least two entries.
template <typename Chain>
Status SplitByMove(Chain* chain, typename Chain::Node** node, typename Chain::Node** right) {
  using Node = typename Chain::Node;
  DCHECK((*node)->Count() >= 2);
  const typename Node::PositionList gone = Highest(**node, (*node)->Count() / 2);
  Node image = {};
  MemoryPersister in_memory;
  image.Add(&in_memory, Gather(**node, gone));
  image.siblings.next = (*node)->siblings.next;
  image.siblings.previous.offset = chain->OffsetOf(*node);
  Status status = chain->WriteCompact(image, right);
  if (!status.ok()) return status;
  return split_internal::CutOff(chain, node, *right, gone);
}

// Writes the whole node once more, in one stream, with the inverted bitmap. For layouts with a bitmap only: in others
// the entries would have to move up in the copy.
template <typename Chain>
Status SplitByCopy(Chain* chain, typename Chain::Node** node, typename Chain::Node** right) {
  using Node = typename Chain::Node;
  static_assert(Node::kPositionsStay);
  DCHECK((*node)->Count() >= 2);
  const typename Node::PositionList gone = Highest(**node, (*node)->Count() / 2);
  Node image = **node;
  image.KeepOnly(gone);
  image.siblings.previous.offset = chain->OffsetOf(*node);
  Status status = chain->WriteWhole(image, right);
  if (!status.ok()) return status;
  return split_internal::CutOff(chain, node, *right, gone);
}

}  // namespace pmlsm::primitives
