// E10, merge nodes (section 5.4, Figure 13).
//
// Question: what does it cost to move all entries of a node to the one before it?
// Variables: layout; node of 256 B to 4 KiB; by which persister (see insert.cc). Both nodes are half full, less one;
//   entries of layouts without order came in random order.
// Metric: mean latency; bytes modified; lines and blocks written; fences. Nodes go back to their group, which stores
//   nothing; the paper measured 1.6 us for PMDK's deallocation, apart.
// The paper expects sorted and unsorted, which append, to be the fastest, and finds that: four times faster than hashing,
//   which checks bits and copies fingerprints; bitmap and indirection are alike, between them.
#include "primitives/merge_nodes.h"

#include "tools/lab/changes.h"
#include "tools/lab/experiments.h"
#include "tools/lab/layouts.h"
#include "tools/lab/measure.h"

namespace pmlsm::lab {
namespace {

template <typename Persister, typename Node>
void RunRow(Lab* lab, benchmark::State* state) {
  constexpr uint32_t kHalf = Node::kCapacity / 2 - 1;
  constexpr uint64_t kSpare = Persister::kUndo ? 0 : 1;
  const auto persister = lab->NewPersister<Persister>();
  const auto shape = Instances::ShapeOf<Node>(2, kSpare, state->max_iterations);
  Instances instances(lab, Placement::kPmem, shape, [](uint64_t number, void* nodes) {
    const auto left = AscendingKeys(number, kHalf);
    FillNode(static_cast<Node*>(nodes), Shuffled(left, number));
    FillNode(static_cast<Node*>(nodes) + 1, Shuffled(AscendingKeys(number + 1, kHalf, left.back()), number));
  });
  MeasureChanges<Persister>(lab, &instances, state, [&](uint32_t instance) -> uint64_t {
    ChainOf<Node, Persister> chain(instances.base(), instances.head(instance), instances.arena(),
                                   persister.get());
    Node* left = instances.node<Node>(instance, 0);
    CHECK(MergeNodes(&chain, &left, instances.node<Node>(instance, 1)).ok());
    return 0;
  });
}

template <typename Persister, typename Node>
void AddOne(Lab* lab) {
  AddRow(lab,
         RowName("E10", {{"layout", Node::kName},
                         {"node", std::to_string(Node::kNodeBytes)},
                         {"atomicity", Persister::kName}}),
         OperationsOf<Persister>(*lab),
         [lab](benchmark::State* state) { RunRow<Persister, Node>(lab, state); });
}

}  // namespace

void AddMergeNodes(Lab* lab) {
  ForEachChange(*lab, [lab](auto* layout, auto* persister) {
    AddOne<std::remove_pointer_t<decltype(persister)>, std::remove_pointer_t<decltype(layout)>>(lab);
  });
}

}  // namespace pmlsm::lab
