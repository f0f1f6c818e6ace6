// UnsortedNode: entries in the order of their arrival, without a gap, counted (the paper's Figure 2a). An insert
// appends; an erase fills the gap with the last entry.
//
// Searched by linear search.
//
// Thread safety: plain data.
#pragma once

#include <cstdint>

#include "pmem/store.h"
#include "pmlsm/status.h"
#include "primitives/capacity.h"
#include "primitives/gap_filling.h"
#include "primitives/node_parts.h"
#include "primitives/search.h"

namespace pmlsm::primitives {

template <typename K, typename V, size_t kBytes, KeyPlace kPlace = KeyPlace::kAligned>
struct alignas(kLineBytes) UnsortedNode {
  static_assert(kMayLieInNode<K, V>);
  static constexpr char kName[] = "unsorted";
  static constexpr size_t kNodeBytes = kBytes;
  static constexpr uint32_t kCapacity = Capacity(Metadata::kCounted, kBytes, {sizeof(K), sizeof(V)}, kPlace);
  static constexpr bool kKeepsOrder = false;
  static constexpr bool kPositionsStay = false;
  using Key = K;
  using Value = V;
  using EntryBatch = Batch<K, V, kCapacity>;
  using PositionList = Positions<kCapacity>;

  // Members, in the order of their bytes.
  uint64_t count;  // entries 0 .. count - 1 are in use; published
  Siblings siblings;
  alignas(kPlace == KeyPlace::kAligned ? kLineBytes : sizeof(uint64_t)) K keys[kCapacity];
  V values[kCapacity];

  uint32_t Count() const { return static_cast<uint32_t>(count); }
  Position Find(const K& key) const { return LinearSearch(keys, Count(), key); }
  // Calls visit(position) for each entry, in order of the bytes.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (Position p = 0; p < Count(); ++p) visit(p);
  }
  void AllPositions(PositionList* all) const {
    ForEach([all](Position p) { all->Push(p); });
  }

  Effect AddEffect(const EntryBatch&) const { return {false, 1}; }
  // The batch fits, and none of its keys is here. 1. Write behind the last entry. 2. Stage the count.
  template <typename P>
  void Add(P* persister, const EntryBatch& batch) {
    persister->Write(keys + Count(), batch.keys, batch.size * sizeof(K));
    persister->Write(values + Count(), batch.values, batch.size * sizeof(V));
    persister->Stage(&count, Count() + batch.size);
  }

  Effect RemoveEffect(const PositionList& gone) const { return {LeavesGaps(gone, Count()), 1}; }
  // 1. Fill the gaps with entries from the end. 2. Stage the count.
  template <typename P>
  void Remove(P* persister, const PositionList& gone) {
    const GapFills<kCapacity> fills(gone, Count());
    fills.Apply(persister, keys);
    fills.Apply(persister, values);
    persister->Stage(&count, Count() - gone.size);
  }

  // After a crash; nothing is left to do.
  Status Repair(Store*) { return Status::OK(); }
  bool Check() const { return Count() <= kCapacity; }
};

}  // namespace pmlsm::primitives
