#include "compaction/merged_stream.h"

#include <utility>

#include "compaction/k_way_merge.h"
#include "compaction/two_way_merge.h"
#include "util/check.h"

namespace pmlsm {
namespace {

// Pairs neighbours until one is left.
std::unique_ptr<InternalIterator> NewTwoWayTree(const Comparator* comparator, Sources sources) {
  while (sources.size() > 1) {
    Sources merged;
    for (size_t i = 0; i + 1 < sources.size(); i += 2) {
      merged.push_back(
          std::make_unique<TwoWayMerge>(comparator, std::move(sources[i]), std::move(sources[i + 1])));
    }
    if (sources.size() % 2 == 1) merged.push_back(std::move(sources.back()));
    sources = std::move(merged);
  }
  return std::move(sources[0]);
}

}  // namespace

std::unique_ptr<InternalIterator> NewMergedStream(MergeOrder order, const Comparator* comparator,
                                                  Sources sources) {
  CHECK(order != MergeOrder::kAuto);
  if (order == MergeOrder::k2Way && !sources.empty()) return NewTwoWayTree(comparator, std::move(sources));
  return std::make_unique<KWayMerge>(comparator, std::move(sources));
}

}  // namespace pmlsm
