// E3, iterate (section 5.2, Figure 6(b)).
//
// Question: what does it cost to read all entries of a chain of data nodes?
// Variables: layout; for indirection, by its bitmap or by its slots; number of nodes, of 1 KiB. All layouts hold as many
//   entries a node as the smallest one does.
// Metric: mean latency of an entry; lines and blocks read, of an entry. The keys are copied out, as in the paper.
// The paper expects that a bitmap costs branches, and finds that: in the largest case 31 percent more than sorted and
//   unsorted, which are the fastest, and 58 percent by slots, which jump.
#include "primitives/iterate.h"

#include "primitives/node_chain.h"
#include "tools/lab/experiments.h"
#include "tools/lab/layouts.h"
#include "tools/lab/measure.h"

namespace pmlsm::lab {
namespace {

constexpr size_t kNodeBytes = 1024;
constexpr uint32_t kEntriesANode = primitives::HashingNode<LabKey, LabValue, kNodeBytes>::kCapacity;

// Nodes of a chain, side by side.
template <typename Node>
class OneChain {
 public:
  using Chain = primitives::NodeChain<Node, primitives::MemoryPersister>;

  OneChain(Lab* lab, Placement placement, uint64_t nodes)
      : region_(lab->region(placement)),
        arena_(region_.base, sizeof(Node)),
        chain_(region_.base, reinterpret_cast<uint64_t*>(region_.base + region_.begin), &arena_,
               &persister_) {
    Store* const store = lab->setup_store();
    LabKey base = 0;
    for (uint64_t i = 0; i < nodes; ++i) {
      const auto keys = AscendingKeys(lab->config().seed + i, kEntriesANode, base);
      base = keys.back();
      Node image = {};
      FillNode(&image, Shuffled(keys, i));
      image.siblings.next.offset = i + 1 < nodes ? NodeOffset(i + 1) : 0;
      store->Copy(region_.base + NodeOffset(i), &image, sizeof(image));
    }
    store->Store8(reinterpret_cast<uint64_t*>(region_.base + region_.begin), NodeOffset(0));
  }

  static uint64_t NodesMax(const Region& region) { return (region.bytes - kNodesBegin) / sizeof(Node); }
  const Chain& chain() const { return chain_; }

 private:
  static constexpr uint64_t kNodesBegin = 4096;
  uint64_t NodeOffset(uint64_t i) const { return region_.begin + kNodesBegin + i * sizeof(Node); }

  const Region region_;
  primitives::NodeArena arena_;
  primitives::MemoryPersister persister_;
  const Chain chain_;
};

enum class By { kBytes, kOrder };

template <By kBy, typename Node>
void RunRow(Lab* lab, Placement placement, uint64_t nodes, benchmark::State* state) {
  const OneChain<Node> all(lab, placement, nodes);
  RowCounts counts(lab);
  const uint64_t entries = nodes * kEntriesANode;
  const auto iterate = [&all](uint32_t) -> uint64_t {
    LabKey copied = 0;
    const auto visit = [&copied](LabKey key, const LabValue&) { benchmark::DoNotOptimize(copied = key); };
    if constexpr (kBy == By::kBytes) {
      ForEachEntry(all.chain(), visit);
    } else {
      ForEachEntryInOrder(all.chain(), visit);
    }
    return 0;
  };
  // An iteration of the benchmark is an entry.
  uint64_t left = static_cast<uint64_t>(state->max_iterations);
  for (; left > 0; left -= std::min(left, entries)) {
    state->KeepRunningBatch(static_cast<int64_t>(entries));
    RunOperations(
        1, [](uint64_t) { return 0u; }, iterate, &counts, entries);
  }
  state->KeepRunningBatch(1);
  counts.Report(state);
}

template <By kBy, typename Node>
void AddRows(Lab* lab, const char* by) {
  for (const Placement placement : {Placement::kPmem, Placement::kDram}) {
    for (uint64_t nodes = 100; nodes <= 10000 && nodes <= OneChain<Node>::NodesMax(lab->region(placement));
         nodes *= 10) {
      const uint64_t entries = nodes * kEntriesANode;
      const uint64_t rounds =
          AccessTracer::Available() ? 1 : std::max<uint64_t>(1, 20 * lab->config().operations / entries);
      AddRow(lab,
             RowName("E3", {{"layout", Node::kName},
                            {"by", by},
                            {"nodes", std::to_string(nodes)},
                            {"placement", ToString(placement)}}),
             rounds * entries, [lab, placement, nodes](benchmark::State* state) {
               RunRow<kBy, Node>(lab, placement, nodes, state);
             });
    }
  }
}

}  // namespace

void AddIterate(Lab* lab) {
  ForEachLayout<kNodeBytes>([lab](auto* layout) {
    using Node = std::remove_pointer_t<decltype(layout)>;
    constexpr bool kHasBitmap = Node::kPositionsStay;
    AddRows<By::kBytes, Node>(lab, kHasBitmap ? "bitmap" : "count");
    // In order, but sorted would be the same twice, and the others would have to sort.
    if constexpr (Node::kKeepsOrder && kHasBitmap) AddRows<By::kOrder, Node>(lab, "slots");
  });
}

}  // namespace pmlsm::lab
