// E9, balance nodes (section 5.4, Figure 12).
//
// Question: what does it cost to move a quarter of a full node's entries to a neighbour that is half full?
// Variables: layout; the receiver holds the smaller keys (left) or the larger ones (right); node of 256 B to 4 KiB; by
//   which persister (see insert.cc). Entries of layouts without order came in random order.
// Metric: mean latency; bytes modified; lines and blocks written; fences.
// The paper expects little difference between the directions and the sorted layouts ahead, and finds sorted up to four
//   times faster than hashing in large nodes, though it writes more: the others have to search for what to move.
//   Indirection writes less and is faster than sorted in small nodes only.
#include "primitives/balance.h"

#include "tools/lab/changes.h"
#include "tools/lab/experiments.h"
#include "tools/lab/layouts.h"
#include "tools/lab/measure.h"

namespace pmlsm::lab {
namespace {

using primitives::Towards;

template <typename Persister, typename Node>
void RunRow(Lab* lab, Towards towards, benchmark::State* state) {
  constexpr uint32_t kFull = Node::kCapacity;
  constexpr uint32_t kHalf = kFull / 2 - 1;
  constexpr uint64_t kSpare = Persister::kUndo ? 0 : 2;
  const bool to_left = towards == Towards::kLeft;
  const auto persister = lab->NewPersister<Persister>();
  const auto shape = Instances::ShapeOf<Node>(2, kSpare, state->max_iterations);
  Instances instances(lab, Placement::kPmem, shape, [&](uint64_t number, void* nodes) {
    const auto left = AscendingKeys(number, to_left ? kHalf : kFull);
    const auto right = AscendingKeys(number + 1, to_left ? kFull : kHalf, left.back());
    FillNode(static_cast<Node*>(nodes), Shuffled(left, number));
    FillNode(static_cast<Node*>(nodes) + 1, Shuffled(right, number));
  });
  MeasureChanges<Persister>(lab, &instances, state, [&](uint32_t instance) -> uint64_t {
    ChainOf<Node, Persister> chain(instances.base(), instances.head(instance), instances.arena(),
                                   persister.get());
    Node* left = instances.node<Node>(instance, 0);
    Node* right = instances.node<Node>(instance, 1);
    CHECK(BalanceNodes(&chain, &left, &right, towards, kFull / 4).ok());
    return 0;
  });
}

template <typename Persister, typename Node>
void AddRows(Lab* lab) {
  for (const Towards towards : {Towards::kLeft, Towards::kRight}) {
    AddRow(lab,
           RowName("E9", {{"layout", Node::kName},
                          {"to", towards == Towards::kLeft ? "left" : "right"},
                          {"node", std::to_string(Node::kNodeBytes)},
                          {"atomicity", Persister::kName}}),
           OperationsOf<Persister>(*lab),
           [lab, towards](benchmark::State* state) { RunRow<Persister, Node>(lab, towards, state); });
  }
}

}  // namespace

void AddBalance(Lab* lab) {
  ForEachChange(*lab, [lab](auto* layout, auto* persister) {
    AddRows<std::remove_pointer_t<decltype(persister)>, std::remove_pointer_t<decltype(layout)>>(lab);
  });
}

}  // namespace pmlsm::lab
