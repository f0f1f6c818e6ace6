// SortedNode: keys in order, without a gap, counted (the paper's Figure 2a). The smallest node, and the one that
// moves the most bytes: an entry's place is given, so all behind it shift.
//
// Searched by binary, interpolation or exponential search.
//
// Thread safety: plain data.
#pragma once

#include <cstdint>

#include "pmem/store.h"
#include "pmlsm/status.h"
#include "primitives/capacity.h"
#include "primitives/node_parts.h"
#include "primitives/search.h"

namespace pmlsm::primitives {

template <typename K, typename V, size_t kBytes, KeyPlace kPlace = KeyPlace::kAligned>
struct alignas(kLineBytes) SortedNode {
  static_assert(kMayLieInNode<K, V>);
  static constexpr char kName[] = "sorted";
  static constexpr size_t kNodeBytes = kBytes;
  static constexpr uint32_t kCapacity = Capacity(Metadata::kCounted, kBytes, {sizeof(K), sizeof(V)}, kPlace);
  static constexpr bool kKeepsOrder = true;      // AllPositions ascends by key
  static constexpr bool kPositionsStay = false;  // an entry's position may change with others
  using Key = K;
  using Value = V;
  using EntryBatch = Batch<K, V, kCapacity>;
  using PositionList = Positions<kCapacity>;

  // Members, in the order of their bytes.
  uint64_t count;  // entries 0 .. count - 1 are in use; published
  Siblings siblings;
  alignas(kPlace == KeyPlace::kAligned ? kLineBytes : sizeof(uint64_t)) K keys[kCapacity];  // ascending
  V values[kCapacity];

  uint32_t Count() const { return static_cast<uint32_t>(count); }
  Position Find(const K& key) const {
    const Position p = BinarySearch(keys, Count(), key);
    return p < Count() && keys[p] == key ? p : kNoPosition;
  }
  // Calls visit(position) for each entry, in order of the bytes.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (Position p = 0; p < Count(); ++p) visit(p);
  }
  void AllPositions(PositionList* all) const {
    ForEach([all](Position p) { all->Push(p); });
  }

  Effect AddEffect(const EntryBatch& batch) const {
    const bool at_end = Count() == 0 || keys[Count() - 1] < batch.keys[0];
    return {!at_end, 1};
  }
  // The batch fits, and none of its keys is here.
  // 1. Merge it with what is behind its first key, in DRAM. 2. Write that back. 3. Stage the count.
  template <typename P>
  void Add(P* persister, const EntryBatch& batch) {
    const uint32_t old_count = Count();
    const Position first = BinarySearch(keys, old_count, batch.keys[0]);
    EntryBatch tail;
    Position mine = first;
    for (uint32_t i = 0; i < batch.size; ++i) {
      for (; mine < old_count && keys[mine] < batch.keys[i]; ++mine) tail.Push(keys[mine], values[mine]);
      tail.Push(batch.keys[i], batch.values[i]);
    }
    for (; mine < old_count; ++mine) tail.Push(keys[mine], values[mine]);
    WriteTail(persister, keys, first, tail.keys, tail.size);
    WriteTail(persister, values, first, tail.values, tail.size);
    persister->Stage(&count, old_count + batch.size);
  }

  Effect RemoveEffect(const PositionList& gone) const {
    const bool at_end = gone.at[0] + gone.size == Count();
    return {!at_end, 1};
  }
  // 1. Gather what stays behind the first that goes, in DRAM. 2. Write that back. 3. Stage the count.
  template <typename P>
  void Remove(P* persister, const PositionList& gone) {
    EntryBatch tail;
    uint32_t passed = 0;
    for (Position p = gone.at[0]; p < Count(); ++p) {
      if (passed < gone.size && gone.at[passed] == p) {
        ++passed;
      } else {
        tail.Push(keys[p], values[p]);
      }
    }
    WriteTail(persister, keys, gone.at[0], tail.keys, tail.size);
    WriteTail(persister, values, gone.at[0], tail.values, tail.size);
    persister->Stage(&count, Count() - gone.size);
  }

  // After a crash; nothing is left to do.
  Status Repair(Store*) { return Status::OK(); }
  bool Check() const {
    if (Count() > kCapacity) return false;
    for (Position p = 1; p < Count(); ++p) {
      if (!(keys[p - 1] < keys[p])) return false;
    }
    return true;
  }

 private:
  // Readers reach what lies below the count.
  template <typename P, typename T>
  void WriteTail(P* persister, T* array, Position first, const T* tail, uint32_t size) {
    const uint32_t reached = size < Count() - first ? size : Count() - first;
    persister->Overwrite(array + first, tail, reached * sizeof(T));
    persister->Write(array + first + reached, tail + reached, (size - reached) * sizeof(T));
  }
};

}  // namespace pmlsm::primitives
