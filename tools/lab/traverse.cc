// E2, tree traverse (section 5.2, Figure 6(a)).
//
// Question: what does a level of a tree cost on the way from the root to a leaf?
// Variables: levels of inner nodes, 1 to 5; inner nodes in DRAM or in PMem; the leaf is in PMem. As in the paper nothing
//   is searched: a random child is taken, so that no prefetch helps. Trees of 8 children a node, as many of them as fill
//   the memory.
// Metric: mean latency; lines read, in PMem and in DRAM.
// The paper expects that a level adds the latency of its memory, and finds 50 to 100 ns in DRAM and 400 to 500 ns in PMem:
//   nearly double what was measured for a single access. A hybrid tree is highly preferable.
#include <vector>

#include "primitives/inner_levels.h"
#include "primitives/manual_persister.h"
#include "tools/lab/experiments.h"
#include "tools/lab/layouts.h"
#include "tools/lab/measure.h"

namespace pmlsm::lab {
namespace {

constexpr size_t kNodeBytes = 256;
constexpr uint64_t kFanOut = 8;
constexpr int kDepthMax = 5;
constexpr uint64_t kPageBytes = 4096;

using Leaf = primitives::HashingNode<LabKey, LabValue, kNodeBytes>;
template <typename Persister>
using Inners = primitives::InnerLevels<LabKey, Persister, kNodeBytes>;

// Full trees of one depth.
template <typename Persister>
class Forest {
 public:
  Forest(Lab* lab, Placement placement, int depth)
      : leaf_region_(lab->region(Placement::kPmem)),
        inner_region_(lab->region(placement)),
        arena_(inner_region_.base, kNodeBytes),
        persister_(lab->NewPersister<Persister>()) {
    uint64_t leaves = 1;
    uint64_t inners = 0;
    for (int level = 0; level < depth; ++level, leaves *= kFanOut) inners += leaves;
    // Inner nodes of PMem lie behind the leaves.
    const uint64_t trees = (leaf_region_.bytes - kPageBytes) / ((leaves + inners) * kNodeBytes);
    CHECK(trees > 0);
    const uint64_t leaves_end = leaf_region_.begin + trees * leaves * kNodeBytes;
    arena_.AddGroup(placement == Placement::kPmem ? leaves_end : inner_region_.begin,
                    trees * inners * kNodeBytes);
    WriteLeaves(lab->setup_store(), trees * leaves);
    for (uint64_t tree = 0; tree < trees; ++tree) {
      std::vector<typename Inners<Persister>::Child> children;
      for (uint64_t i = 0; i < leaves; ++i) {
        children.emplace_back(i, leaf_region_.begin + (tree * leaves + i) * kNodeBytes);
      }
      Inners<Persister> levels(inner_region_.base, &arena_, persister_.get());
      CHECK(levels.Build(std::move(children), kFanOut).ok());
      CHECK(levels.depth() == depth);
      roots_.push_back(levels.root());
    }
  }

  uint64_t trees() const { return roots_.size(); }
  const typename Inners<Persister>::Inner* Root(uint64_t tree) const { return InnerAt(roots_[tree]); }
  const typename Inners<Persister>::Inner* InnerAt(uint64_t offset) const {
    return reinterpret_cast<const typename Inners<Persister>::Inner*>(inner_region_.base + offset);
  }
  const Leaf* LeafAt(uint64_t offset) const {
    return reinterpret_cast<const Leaf*>(leaf_region_.base + offset);
  }

 private:
  void WriteLeaves(Store* store, uint64_t count) {
    Leaf image = {};
    FillNode(&image, AscendingKeys(1, Leaf::kCapacity));
    for (uint64_t i = 0; i < count; ++i) {
      store->Copy(leaf_region_.base + leaf_region_.begin + i * kNodeBytes, &image, sizeof(image));
    }
  }

  const Region leaf_region_;
  const Region inner_region_;
  primitives::NodeArena arena_;
  const std::unique_ptr<Persister> persister_;
  std::vector<uint64_t> roots_;
};

template <typename Persister>
void RunRow(Lab* lab, Placement placement, int depth, benchmark::State* state) {
  const Forest<Persister> forest(lab, placement, depth);
  Random random(lab->config().seed);
  RowCounts counts(lab);
  const auto nothing = [] {};
  const auto tree = [&](uint64_t) { return static_cast<uint32_t>(random.Uniform(forest.trees())); };
  const auto traverse = [&](uint32_t number) -> uint64_t {
    uint64_t choices = random.Next();
    const auto* inner = forest.Root(number);
    uint64_t child = inner->values[choices % kFanOut];
    for (int level = 1; level < depth; ++level) {
      choices /= kFanOut;
      child = forest.InnerAt(child)->values[choices % kFanOut];
    }
    return forest.LeafAt(child)->bitmap.words[0] >> 63;
  };
  RunStretches(state, UINT64_MAX, nothing, tree, traverse, &counts);
  counts.Report(state);
}

}  // namespace

void AddTraverse(Lab* lab) {
  for (int depth = 1; depth <= kDepthMax; ++depth) {
    for (const Placement placement : {Placement::kPmem, Placement::kDram}) {
      AddRow(lab, RowName("E2", {{"levels", std::to_string(depth)}, {"inner", ToString(placement)}}),
             lab->config().operations, [lab, placement, depth](benchmark::State* state) {
               if (placement == Placement::kPmem) {
                 RunRow<primitives::ManualPersister>(lab, placement, depth, state);
               } else {
                 RunRow<primitives::MemoryPersister>(lab, placement, depth, state);
               }
             });
    }
  }
}

}  // namespace pmlsm::lab
