// BitmapNode: entries anywhere, a bit says which positions are in use (the paper's Figure 2b). An erase is one bit,
// and a node can be split by copying it and inverting the bitmap.
//
// Searched by linear search with bitmap.
//
// Thread safety: plain data.
#pragma once

#include <cstdint>

#include "pmem/store.h"
#include "pmlsm/status.h"
#include "primitives/capacity.h"
#include "primitives/entry_bitmap.h"
#include "primitives/free_runs.h"
#include "primitives/node_parts.h"
#include "primitives/search.h"

namespace pmlsm::primitives {

template <typename K, typename V, size_t kBytes>
struct alignas(kLineBytes) BitmapNode {
  static_assert(kMayLieInNode<K, V>);
  static constexpr char kName[] = "bitmap";
  static constexpr size_t kNodeBytes = kBytes;
  static constexpr uint32_t kCapacity = Capacity(Metadata::kBitmap, kBytes, {sizeof(K), sizeof(V)});
  static constexpr bool kKeepsOrder = false;
  static constexpr bool kPositionsStay = true;  // so a copied node needs no more than another bitmap
  using Key = K;
  using Value = V;
  using EntryBatch = Batch<K, V, kCapacity>;
  using PositionList = Positions<kCapacity>;

  // Members, in the order of their bytes.
  EntryBitmap<kCapacity> bitmap;  // positions in use; published
  Siblings siblings;
  alignas(kLineBytes) K keys[kCapacity];
  V values[kCapacity];

  uint32_t Count() const { return bitmap.Count(); }
  Position Find(const K& key) const { return LinearSearchWithBitmap(keys, bitmap, key); }
  // Calls visit(position) for each entry, in order of the bytes.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    bitmap.ForEach(visit);
  }
  void AllPositions(PositionList* all) const {
    ForEach([all](Position p) { all->Push(p); });
  }

  Effect AddEffect(const EntryBatch& batch) const {
    return {false, ChangedWords(bitmap, FreeRuns<kCapacity>(bitmap, batch.size).after())};
  }
  // The batch fits, and none of its keys is here. 1. Write to free positions. 2. Stage the bitmap.
  template <typename P>
  void Add(P* persister, const EntryBatch& batch) {
    const FreeRuns<kCapacity> runs(bitmap, batch.size);
    runs.Write(persister, keys, batch.keys);
    runs.Write(persister, values, batch.values);
    StageBitmap(persister, &bitmap, runs.after());
  }

  Effect RemoveEffect(const PositionList& gone) const {
    return {false, ChangedWords(bitmap, Without(bitmap, gone))};
  }
  // 1. Stage the bitmap.
  template <typename P>
  void Remove(P* persister, const PositionList& gone) {
    StageBitmap(persister, &bitmap, Without(bitmap, gone));
  }
  // Of a copy that nothing reaches: all but these go.
  void KeepOnly(const PositionList& kept) {
    bitmap = {};
    for (uint32_t i = 0; i < kept.size; ++i) bitmap.Set(kept.at[i]);
  }

  // After a crash; nothing is left to do.
  Status Repair(Store*) { return Status::OK(); }
  bool Check() const { return bitmap.EndsAtCapacity(); }
};

}  // namespace pmlsm::primitives
