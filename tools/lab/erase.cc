// E8, erase from node (section 5.4, Figure 11).
//
// Question: what does it cost to remove an entry from a full node?
// Variables: layout; node of 256 B to 4 KiB; the first, the middle, the last entry; by which persister (see insert.cc).
// Metric: mean latency; bytes modified; lines and blocks written; fences. The search is not in it.
// The paper expects sorted to be the poorest, unsorted to move one entry, and those with a bitmap to be the fastest,
//   for they reset a bit; indirection shifts slots besides. It finds that: the bitmap is the best in all cases,
//   hashing the same, indirection a little slower, the more so from 2 KiB on, where bitmap and slots take a line more;
//   unsorted depends on how far the last entry is; sorted keeps up at the end only.
#include "primitives/erase.h"

#include "tools/lab/changes.h"
#include "tools/lab/experiments.h"
#include "tools/lab/layouts.h"
#include "tools/lab/measure.h"

namespace pmlsm::lab {
namespace {

template <typename Persister, typename Node>
void RunRow(Lab* lab, Where where, benchmark::State* state) {
  std::vector<primitives::Position> erased(Instances::kImages);
  constexpr uint64_t kSpare = Persister::kUndo ? 0 : 1;
  const auto persister = lab->NewPersister<Persister>();
  const auto shape = Instances::ShapeOf<Node>(1, kSpare, state->max_iterations);
  Instances instances(lab, Placement::kPmem, shape, [&](uint64_t number, void* nodes) {
    const auto keys = AscendingKeys(number, Node::kCapacity);
    FillNode(static_cast<Node*>(nodes), keys);
    erased[number] = static_cast<Node*>(nodes)->Find(keys[RankAt(where, Node::kCapacity)]);
  });
  MeasureChanges<Persister>(lab, &instances, state, [&](uint32_t instance) -> uint64_t {
    ChainOf<Node, Persister> chain(instances.base(), instances.head(instance), instances.arena(),
                                   persister.get());
    Node* node = instances.node<Node>(instance, 0);
    CHECK(EraseEntry(&chain, &node, erased[Instances::ImageOf(instance)]).ok());
    return 0;
  });
}

template <typename Persister, typename Node>
void AddRows(Lab* lab) {
  for (const Where where : kEverywhere) {
    AddRow(lab,
           RowName("E8", {{"layout", Node::kName},
                          {"node", std::to_string(Node::kNodeBytes)},
                          {"position", ToString(where)},
                          {"atomicity", Persister::kName}}),
           OperationsOf<Persister>(*lab),
           [lab, where](benchmark::State* state) { RunRow<Persister, Node>(lab, where, state); });
  }
}

}  // namespace

void AddErase(Lab* lab) {
  ForEachChange(*lab, [lab](auto* layout, auto* persister) {
    AddRows<std::remove_pointer_t<decltype(persister)>, std::remove_pointer_t<decltype(layout)>>(lab);
  });
}

}  // namespace pmlsm::lab
