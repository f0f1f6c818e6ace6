// E5's other part: the allocation of the new node (section 5.3, Figure 8; section 6, "allocations").
//
// Question: what does it cost to find space for a node?
// Variables: by whom, a group of nodes that was allocated before (node_arena.h) or libpmemobj's allocator; node of 256 B
//   to 4 KiB.
// Metric: mean latency; lines and blocks written; fences.
// The paper finds that allocation is about 80 percent of a split, and proposes to allocate in groups and to use nodes
//   again.
#include <vector>

#include "pmem/pmdk_allocator.h"
#include "tools/lab/experiments.h"
#include "tools/lab/instances.h"
#include "tools/lab/layouts.h"
#include "tools/lab/measure.h"
#include "util/check.h"

namespace pmlsm::lab {
namespace {

constexpr uint64_t kStretch = 2048;  // all of it fits in the pool

void RunGroupRow(Lab* lab, size_t node_bytes, benchmark::State* state) {
  const Region region = lab->region(Placement::kPmem);
  primitives::NodeArena arena(region.base, node_bytes);
  arena.AddGroup(region.begin, region.bytes);
  std::vector<uint64_t> taken;
  const auto free_all = [&] {
    for (const uint64_t offset : taken) arena.Free(offset);
    taken.clear();
  };
  RowCounts counts(lab);
  RunStretches(
      state, kStretch, free_all, [](uint64_t i) { return static_cast<uint32_t>(i); },
      [&](uint32_t) -> uint64_t {
        uint64_t offset = 0;
        CHECK(arena.Allocate(&offset).ok());
        taken.push_back(offset);
        return 0;
      },
      &counts);
  counts.Report(state);
}

void RunLibpmemobjRow(Lab* lab, size_t node_bytes, benchmark::State* state) {
  PmdkAllocator allocator = lab->NewPmdkAllocator();
  std::vector<uint64_t> taken;
  const auto free_all = [&] {
    for (const uint64_t offset : taken) allocator.Free(offset);
    taken.clear();
  };
  RowCounts counts(lab);
  counts.UseLibpmemobj();
  RunStretches(
      state, kStretch, free_all, [](uint64_t i) { return static_cast<uint32_t>(i); },
      [&](uint32_t) -> uint64_t {
        uint64_t offset = 0;
        CHECK(allocator.Allocate(node_bytes, &offset).ok());
        taken.push_back(offset);
        return 0;
      },
      &counts);
  counts.Report(state);
  free_all();
}

using Run = void (*)(Lab*, size_t, benchmark::State*);

void AddOne(Lab* lab, const char* by, size_t node_bytes, Run run) {
  AddRow(lab, RowName("E5-allocation", {{"by", by}, {"node", std::to_string(node_bytes)}}),
         lab->config().operations, [=](benchmark::State* state) { run(lab, node_bytes, state); });
}

}  // namespace

void AddAllocate(Lab* lab) {
  for (const size_t node_bytes : {256, 512, 1024, 2048, 4096}) {
    if (lab->config().quick && (node_bytes == 512 || node_bytes == 2048)) continue;
    AddOne(lab, "group", node_bytes, RunGroupRow);
    AddOne(lab, "libpmemobj", node_bytes, RunLibpmemobjRow);
  }
}

}  // namespace pmlsm::lab
