// The layouts that the experiments compare, with the paper's keys and values, and nodes that are filled in a given
// way.
//
// Thread safety: free functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "primitives/bitmap_node.h"
#include "primitives/counted_hashing_node.h"
#include "primitives/hashing_node.h"
#include "primitives/indirection_node.h"
#include "primitives/persister.h"
#include "primitives/sorted_node.h"
#include "primitives/unsorted_node.h"
#include "util/random.h"

namespace pmlsm::lab {

using LabKey = uint64_t;
// The paper's value, as wide as a persistent pointer.
struct LabValue {
  int32_t first;
  int32_t second;
  double third;
};

// Calls visit with a null pointer to the node type of each layout.
template <size_t kBytes, typename Visit>
void ForEachLayout(const Visit& visit) {
  using namespace primitives;  // NOLINT: its layouts
  visit(static_cast<SortedNode<LabKey, LabValue, kBytes>*>(nullptr));
  visit(static_cast<UnsortedNode<LabKey, LabValue, kBytes>*>(nullptr));
  visit(static_cast<BitmapNode<LabKey, LabValue, kBytes>*>(nullptr));
  visit(static_cast<IndirectionNode<LabKey, LabValue, kBytes>*>(nullptr));
  visit(static_cast<HashingNode<LabKey, LabValue, kBytes>*>(nullptr));
  visit(static_cast<CountedHashingNode<LabKey, LabValue, kBytes>*>(nullptr));
}

// The paper's node sizes; a quick run takes every second one.
template <typename Visit>
void ForEachLayoutAndSize(bool quick, const Visit& visit) {
  ForEachLayout<256>(visit);
  if (!quick) ForEachLayout<512>(visit);
  ForEachLayout<1024>(visit);
  if (!quick) ForEachLayout<2048>(visit);
  ForEachLayout<4096>(visit);
}

// The search that a layout's Find does.
template <typename Node>
const char* OwnSearchName() {
  const std::string layout = Node::kName;
  if (layout == "sorted") return "binary";
  if (layout == "unsorted") return "linear";
  if (layout == "bitmap") return "linear-bitmap";
  if (layout == "indirection") return "binary-slots";
  return layout == "hashing" ? "probe-bitmap" : "probe-count";
}

// Where the entry lies that is searched, inserted or erased.
enum class Where { kFirst, kMiddle, kLast };
inline constexpr Where kEverywhere[] = {Where::kFirst, Where::kMiddle, Where::kLast};
const char* ToString(Where where);
uint32_t RankAt(Where where, uint32_t count);

// `count` different keys, ascending, unevenly spaced; from `base` on.
std::vector<LabKey> AscendingKeys(uint64_t seed, uint32_t count, LabKey base = 0);
// The same in random order.
std::vector<LabKey> Shuffled(std::vector<LabKey> keys, uint64_t seed);

// Puts the keys into an empty node in DRAM, one after the other.
template <typename Node>
void FillNode(Node* node, const std::vector<LabKey>& keys) {
  primitives::MemoryPersister in_memory;
  for (const LabKey key : keys) {
    typename Node::EntryBatch entry;
    entry.Push(key, LabValue{static_cast<int32_t>(key), 1, 2});
    node->Add(&in_memory, entry);
  }
}

}  // namespace pmlsm::lab
