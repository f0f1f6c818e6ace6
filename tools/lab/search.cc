// E1, node search (section 5.2, Figure 5).
//
// Question: what does it cost to find the position of a key within a node?
// Variables: layout with its search; node of 256 B to 4 KiB; the key lies first, in the middle, last; nodes in PMem or in
//   DRAM; cold (a random one of more nodes than the caches hold) or cached (always the same).
// Metric: mean latency; lines and 256 B blocks read.
// The paper expects binary search to be faster, except for keys at the front. It finds otherwise: hash probing is the
//   best for cold nodes in PMem, since it reads the fewest lines; binary and linear search meet in the middle; binary
//   search through slots is a little slower than direct; binary search wins in DRAM and when cached.
// Beyond the paper: interpolation and exponential search, hash probing with a count.
#include "primitives/search.h"

#include "tools/lab/experiments.h"
#include "tools/lab/layouts.h"
#include "tools/lab/measure.h"

namespace pmlsm::lab {
namespace {

using primitives::Position;

// The searches of a layout: the first is its own.
struct OwnSearch {
  template <typename Node>
  static Position Find(const Node& node, LabKey key) {
    return node.Find(key);
  }
};
struct Interpolation {
  template <typename Node>
  static Position Find(const Node& node, LabKey key) {
    return primitives::InterpolationSearch(node.keys, node.Count(), key);
  }
};
struct Exponential {
  template <typename Node>
  static Position Find(const Node& node, LabKey key) {
    return primitives::ExponentialSearch(node.keys, node.Count(), key);
  }
};

struct SearchRow {
  const char* search;
  Where where;
  Placement placement;
  bool cached;
};

template <typename Search, typename Node>
void RunRow(Lab* lab, const SearchRow& row, benchmark::State* state) {
  const uint32_t rank = RankAt(row.where, Node::kCapacity);
  LabKey wanted[Instances::kImages];
  const auto shape = Instances::ShapeOf<Node>(1, 0, row.cached ? 1 : UINT64_MAX);
  const Instances instances(lab, row.placement, shape, [&](uint64_t number, void* node) {
    const auto keys = AscendingKeys(number, Node::kCapacity);
    FillNode(static_cast<Node*>(node), keys);
    wanted[number] = keys[rank];
  });
  MeasureReads(lab, row.cached, instances, state, [&](uint32_t instance) -> uint64_t {
    const Position found =
        Search::Find(*instances.node<Node>(instance, 0), wanted[Instances::ImageOf(instance)]);
    DCHECK(found != primitives::kNoPosition);
    return found >> 31;
  });
}

template <typename Search, typename Node>
void AddRows(Lab* lab, const char* search) {
  for (const Placement placement : {Placement::kPmem, Placement::kDram}) {
    for (const bool cached : {false, true}) {
      for (const Where where : kEverywhere) {
        const SearchRow row = {search, where, placement, cached};
        AddRow(lab,
               RowName("E1", {{"layout", Node::kName},
                              {"search", search},
                              {"node", std::to_string(Node::kNodeBytes)},
                              {"position", ToString(where)},
                              {"placement", ToString(placement)},
                              {"cache", cached ? "cached" : "cold"}}),
               lab->config().operations,
               [lab, row](benchmark::State* state) { RunRow<Search, Node>(lab, row, state); });
      }
    }
  }
}

}  // namespace

void AddSearch(Lab* lab) {
  ForEachLayoutAndSize(lab->config().quick, [lab](auto* layout) {
    using Node = std::remove_pointer_t<decltype(layout)>;
    AddRows<OwnSearch, Node>(lab, OwnSearchName<Node>());
    if constexpr (Node::kKeepsOrder && !Node::kPositionsStay) {
      AddRows<Interpolation, Node>(lab, "interpolation");
      AddRows<Exponential, Node>(lab, "exponential");
    }
  });
}

}  // namespace pmlsm::lab
