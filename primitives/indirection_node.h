// IndirectionNode: entries anywhere, a bit says which positions are in use, and an array of slots lists these
// positions in key order (the paper's Figure 2c). Order costs a shift of bytes, not of entries.
//
// The slots follow from bitmap and keys. Where a policy cannot undo a write, they are changed under a flag that says
// not to believe them: 1. The flag, in a word of the bitmap that will change, durable. 2. The slots. 3. The bitmap
// without the flag. CRASH between 1 and 3: the old bitmap counts, and Repair lists its positions anew.
//
// Searched by binary search through the slots.
//
// Thread safety: plain data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "pmem/store.h"
#include "pmlsm/status.h"
#include "primitives/capacity.h"
#include "primitives/entry_bitmap.h"
#include "primitives/free_runs.h"
#include "primitives/node_parts.h"
#include "primitives/search.h"

namespace pmlsm::primitives {

template <typename K, typename V, size_t kBytes>
struct alignas(kLineBytes) IndirectionNode {
  static_assert(kMayLieInNode<K, V>);
  static constexpr char kName[] = "indirection";
  static constexpr size_t kNodeBytes = kBytes;
  static constexpr uint32_t kCapacity = Capacity(Metadata::kSearched, kBytes, {sizeof(K), sizeof(V)});
  static_assert(kCapacity <= UINT8_MAX, "a slot is a byte");
  static constexpr bool kKeepsOrder = true;
  static constexpr bool kPositionsStay = true;
  using Key = K;
  using Value = V;
  using EntryBatch = Batch<K, V, kCapacity>;
  using PositionList = Positions<kCapacity>;

  static constexpr uint64_t kSlotsAreStale = uint64_t{1} << kEntriesAWord;

  // Members, in the order of their bytes.
  EntryBitmap<kCapacity> bitmap;  // positions in use; published; kSlotsAreStale in any word
  Siblings siblings;
  uint8_t slot_count;
  uint8_t slots[kCapacity];  // the positions of the smallest key, the next, ...; slot_count of them
  alignas(kLineBytes) K keys[kCapacity];
  V values[kCapacity];

  uint32_t Count() const { return slot_count; }
  Position Find(const K& key) const {
    const Position rank = BinarySearchThroughSlots(keys, slots, slot_count, key);
    return rank < slot_count && keys[slots[rank]] == key ? slots[rank] : kNoPosition;
  }
  // Calls visit(position) for each entry, in order of the bytes.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    bitmap.ForEach(visit);
  }
  void AllPositions(PositionList* all) const {
    for (uint32_t rank = 0; rank < slot_count; ++rank) all->Push(slots[rank]);
  }

  Effect AddEffect(const EntryBatch& batch) const {
    return {false, ChangedWords(bitmap, FreeRuns<kCapacity>(bitmap, batch.size).after())};
  }
  // The batch fits, and none of its keys is here. 1. Write to free positions. 2. Merge the slots. 3. Stage the bitmap.
  template <typename P>
  void Add(P* persister, const EntryBatch& batch) {
    const FreeRuns<kCapacity> runs(bitmap, batch.size);
    runs.Write(persister, keys, batch.keys);
    runs.Write(persister, values, batch.values);
    PositionList merged;
    uint32_t rank = 0;
    for (uint32_t i = 0; i < batch.size; ++i) {
      while (rank < slot_count && keys[slots[rank]] < batch.keys[i]) merged.Push(slots[rank++]);
      merged.Push(runs.places().at[i]);
    }
    while (rank < slot_count) merged.Push(slots[rank++]);
    Replace(persister, merged, runs.after());
  }

  Effect RemoveEffect(const PositionList& gone) const {
    return {false, ChangedWords(bitmap, Without(bitmap, gone))};
  }
  // 1. Close the gaps in the slots. 2. Stage the bitmap.
  template <typename P>
  void Remove(P* persister, const PositionList& gone) {
    const EntryBitmap<kCapacity> after = Without(bitmap, gone);
    PositionList left;
    for (uint32_t rank = 0; rank < slot_count; ++rank) {
      if (after.Test(slots[rank])) left.Push(slots[rank]);
    }
    Replace(persister, left, after);
  }
  // Of a copy that nothing reaches: all but these go.
  void KeepOnly(const PositionList& kept) {
    bitmap = {};
    for (uint32_t rank = 0; rank < kept.size; ++rank) {
      bitmap.Set(kept.at[rank]);
      slots[rank] = static_cast<uint8_t>(kept.at[rank]);
    }
    slot_count = static_cast<uint8_t>(kept.size);
  }

  // After a crash, where the slots are stale: 1. Slots of the bitmap's positions, fenced. 2. The words without the
  // flag, fenced. CRASH before 2: the next Repair starts over.
  Status Repair(Store* store) {
    if (!SlotsAreStale()) return Status::OK();
    uint8_t in_order[1 + kCapacity];
    uint32_t count = 0;
    bitmap.ForEach([&](Position p) { in_order[++count] = static_cast<uint8_t>(p); });
    in_order[0] = static_cast<uint8_t>(count);
    std::sort(in_order + 1, in_order + 1 + count, [this](uint8_t a, uint8_t b) { return keys[a] < keys[b]; });
    store->Copy(&slot_count, in_order, sizeof(slot_count));
    store->Copy(slots, in_order + 1, count);
    store->FlushLines(&slot_count, sizeof(slot_count) + count);
    Status status = store->Fence();
    if (!status.ok()) return status;
    for (uint64_t& word : bitmap.words) store->Store8(&word, word & kEntryBits);
    store->FlushLines(&bitmap, sizeof(bitmap));
    return store->Fence();
  }
  bool Check() const {
    if (SlotsAreStale() || slot_count != bitmap.Count() || !bitmap.EndsAtCapacity()) return false;
    for (uint32_t rank = 0; rank < slot_count; ++rank) {
      if (!bitmap.Test(slots[rank])) return false;
      if (rank > 0 && !(keys[slots[rank - 1]] < keys[slots[rank]])) return false;
    }
    return true;
  }

 private:
  bool SlotsAreStale() const {
    return std::any_of(std::begin(bitmap.words), std::end(bitmap.words),
                       [](uint64_t word) { return (word & kSlotsAreStale) != 0; });
  }

  // Slots of `ranks`, then the bitmap, in the order that the head of this file gives.
  template <typename P>
  void Replace(P* persister, const PositionList& ranks, const EntryBitmap<kCapacity>& after) {
    uint8_t changed[kCapacity];
    uint32_t first = ranks.size;  // what is before it stays
    for (uint32_t rank = ranks.size; rank-- > 0;) {
      changed[rank] = static_cast<uint8_t>(ranks.at[rank]);
      if (rank >= slot_count || slots[rank] != changed[rank]) first = rank;
    }
    const auto count = static_cast<uint8_t>(ranks.size);
    if constexpr (P::kUndo) {
      persister->Overwrite(&slot_count, &count, sizeof(count));
      persister->Overwrite(slots + first, changed + first, ranks.size - first);
    } else {
      MarkStale(persister, after);
      persister->Write(&slot_count, &count, sizeof(count));
      persister->Write(slots + first, changed + first, ranks.size - first);
    }
    StageBitmap(persister, &bitmap, after);
  }
  template <typename P>
  void MarkStale(P* persister, const EntryBitmap<kCapacity>& after) {
    for (uint32_t i = 0; i < after.kWords; ++i) {
      if ((bitmap.words[i] & kEntryBits) == after.words[i]) continue;
      persister->PublishNow(&bitmap.words[i], bitmap.words[i] | kSlotsAreStale);
      return;
    }
  }
};

}  // namespace pmlsm::primitives
