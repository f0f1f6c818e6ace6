// Balance nodes (the paper's E9): entries move from a node to its neighbour.
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

namespace balance_internal {

// 1. Write both nodes anew, the left one linked to the right one. 2. Publish the link to the left one.
template <typename Chain>
Status ReplaceBoth(Chain* chain, typename Chain::Node** left, typename Chain::Node** right,
                   typename Chain::Node* left_image, const typename Chain::Node& right_image) {
  typename Chain::Node* const old_right = *right;
  typename Chain::Node* const after = chain->next(old_right);
  Status status = chain->WriteImage(right_image, right);
  if (!status.ok()) return status;
  left_image->siblings.next.offset = chain->OffsetOf(*right);
  status = ReplaceNode(chain, left, *left_image);
  if (!status.ok()) {
    chain->Free(*right);
    *right = old_right;
    return status;
  }
  chain->SetPrevious(after, *right);
  chain->Free(old_right);
  return status;
}

}  // namespace balance_internal

enum class Towards { kLeft, kRight };

// *right follows *left. The `count` entries next to the other node move, and have room there. Both become the nodes
// that hold them now.
// In place: 1. Write the entries where no word names them, or, with undo, make room for them, and close the gaps they
// leave. 2. Publish the words of both nodes. CRASH before 2: nothing has moved. Else: ReplaceBoth.
template <typename Chain>
Status BalanceNodes(Chain* chain, typename Chain::Node** left, typename Chain::Node** right, Towards towards,
                    uint32_t count) {
  using Node = typename Chain::Node;
  const bool to_left = towards == Towards::kLeft;
  Node* const donor = to_left ? *right : *left;
  Node* const receiver = to_left ? *left : *right;
  DCHECK(count > 0 && count <= donor->Count() && receiver->Count() + count <= Node::kCapacity);
  const typename Node::PositionList gone = to_left ? Lowest(*donor, count) : Highest(*donor, count);
  const typename Node::EntryBatch moved = Gather(*donor, gone);
  if (InPlace<typename Chain::Persister>(donor->RemoveEffect(gone) + receiver->AddEffect(moved))) {
    receiver->Add(chain->persister(), moved);
    donor->Remove(chain->persister(), gone);
    return chain->persister()->Commit();
  }
  Node left_image = **left;
  Node right_image = **right;
  MemoryPersister in_memory;
  (to_left ? left_image : right_image).Add(&in_memory, moved);
  (to_left ? right_image : left_image).Remove(&in_memory, gone);
  return balance_internal::ReplaceBoth(chain, left, right, &left_image, right_image);
}

}  // namespace pmlsm::primitives
