// E5, node split (section 5.3, Figure 8).
//
// Question: what does it cost to move the upper half of a full node to a new one?
// Variables: layout; split by move, or by copy where there is a bitmap; node of 256 B to 4 KiB; by which persister (see
//   insert.cc). Entries of layouts without order came in random order.
// Metric: mean latency; bytes modified; lines and blocks written; fences. The new node comes from a group that was
//   allocated before (node_arena.h); the paper takes it from PMDK, which is 80 percent of its time: allocate.cc.
// The paper expects sorted to be faster than unsorted, which have to find the median, and finds that. Copying writes
//   more bytes and is a bit faster, for it is one sequential write.
#include "primitives/split.h"

#include "tools/lab/changes.h"
#include "tools/lab/experiments.h"
#include "tools/lab/layouts.h"
#include "tools/lab/measure.h"

namespace pmlsm::lab {
namespace {

enum class How { kMove, kCopy };

template <How kHow, typename Persister, typename Node>
void RunRow(Lab* lab, benchmark::State* state) {
  constexpr uint64_t kSpare = Persister::kUndo ? 1 : 2;
  const auto persister = lab->NewPersister<Persister>();
  const auto shape = Instances::ShapeOf<Node>(1, kSpare, state->max_iterations);
  Instances instances(lab, Placement::kPmem, shape, [](uint64_t number, void* nodes) {
    FillNode(static_cast<Node*>(nodes), Shuffled(AscendingKeys(number, Node::kCapacity), number));
  });
  MeasureChanges<Persister>(lab, &instances, state, [&](uint32_t instance) -> uint64_t {
    ChainOf<Node, Persister> chain(instances.base(), instances.head(instance), instances.arena(),
                                   persister.get());
    Node* node = instances.node<Node>(instance, 0);
    Node* right = nullptr;
    if constexpr (kHow == How::kMove) {
      CHECK(SplitByMove(&chain, &node, &right).ok());
    } else {
      CHECK(SplitByCopy(&chain, &node, &right).ok());
    }
    return 0;
  });
}

template <How kHow, typename Persister, typename Node>
void AddOne(Lab* lab) {
  AddRow(lab,
         RowName("E5", {{"layout", Node::kName},
                        {"split", kHow == How::kMove ? "move" : "copy"},
                        {"node", std::to_string(Node::kNodeBytes)},
                        {"atomicity", Persister::kName}}),
         OperationsOf<Persister>(*lab),
         [lab](benchmark::State* state) { RunRow<kHow, Persister, Node>(lab, state); });
}

template <typename Persister, typename Node>
void AddRows(Lab* lab) {
  AddOne<How::kMove, Persister, Node>(lab);
  if constexpr (Node::kPositionsStay) AddOne<How::kCopy, Persister, Node>(lab);
}

}  // namespace

void AddSplit(Lab* lab) {
  ForEachChange(*lab, [lab](auto* layout, auto* persister) {
    AddRows<std::remove_pointer_t<decltype(persister)>, std::remove_pointer_t<decltype(layout)>>(lab);
  });
}

}  // namespace pmlsm::lab
