// E4, insert in node (section 5.3, Figure 7).
//
// Question: what does it cost to place an entry into a node with room for one?
// Variables: layout; node of 256 B to 4 KiB; the key is the first, the middle, the last one; by which persister. In the
//   paper's arrangement changes are flushed and fenced in place, without failure atomicity ("manual"); a row each for
//   the means of failure atomicity, at 1 KiB.
// Metric: mean latency; bytes modified; lines and blocks written; fences. The search is not in it.
// The paper expects sorted to be the poorest, since entries have to move, and finds that: it keeps up in small nodes
//   only. The unsorted layouts are about equal and the best; indirection is a little behind, since it needs a free
//   position, too.
#include "primitives/insert.h"

#include "tools/lab/changes.h"
#include "tools/lab/experiments.h"
#include "tools/lab/layouts.h"
#include "tools/lab/measure.h"

namespace pmlsm::lab {
namespace {

template <typename Persister, typename Node>
void RunRow(Lab* lab, Where where, benchmark::State* state) {
  std::vector<LabKey> inserted(Instances::kImages);
  // Without in-place changes a new node is taken for each insert.
  constexpr uint64_t kSpare = Persister::kUndo ? 0 : 1;
  const auto persister = lab->NewPersister<Persister>();
  const auto shape = Instances::ShapeOf<Node>(1, kSpare, state->max_iterations);
  Instances instances(lab, Placement::kPmem, shape, [&](uint64_t number, void* nodes) {
    auto keys = AscendingKeys(number, Node::kCapacity);
    const auto gap = keys.begin() + RankAt(where, Node::kCapacity);
    inserted[number] = *gap;
    keys.erase(gap);
    FillNode(static_cast<Node*>(nodes), keys);
  });
  MeasureChanges<Persister>(lab, &instances, state, [&](uint32_t instance) -> uint64_t {
    ChainOf<Node, Persister> chain(instances.base(), instances.head(instance), instances.arena(),
                                   persister.get());
    Node* node = instances.node<Node>(instance, 0);
    const LabKey key = inserted[Instances::ImageOf(instance)];
    CHECK(InsertEntry(&chain, &node, key, LabValue{1, 2, 3}).ok());
    return 0;
  });
}

template <typename Persister, typename Node>
void AddRows(Lab* lab) {
  for (const Where where : kEverywhere) {
    AddRow(lab,
           RowName("E4", {{"layout", Node::kName},
                          {"node", std::to_string(Node::kNodeBytes)},
                          {"position", ToString(where)},
                          {"atomicity", Persister::kName}}),
           OperationsOf<Persister>(*lab),
           [lab, where](benchmark::State* state) { RunRow<Persister, Node>(lab, where, state); });
  }
}

}  // namespace

void AddInsert(Lab* lab) {
  ForEachChange(*lab, [lab](auto* layout, auto* persister) {
    AddRows<std::remove_pointer_t<decltype(persister)>, std::remove_pointer_t<decltype(layout)>>(lab);
  });
}

}  // namespace pmlsm::lab
