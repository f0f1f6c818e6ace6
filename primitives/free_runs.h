// FreeRuns: where a batch goes in a node with a bitmap: into the lowest free positions, in the batch's order.
// Neighbours are written as one, so that a line is not flushed an entry at a time.
//
// Thread safety: plain data.
#pragma once

#include <cstdint>

#include "primitives/entry_bitmap.h"
#include "primitives/node_parts.h"

namespace pmlsm::primitives {

template <uint32_t kEntries>
class FreeRuns {
 public:
  // There are `wanted` free positions.
  FreeRuns(const EntryBitmap<kEntries>& bitmap, uint32_t wanted) : after_(bitmap.Entries()) {
    for (Position p = 0; places_.size < wanted; ++p) {
      p = bitmap.FindFree(p);
      places_.Push(p);
      after_.Set(p);
    }
  }

  // Those of the batch's entries, in its order.
  const Positions<kEntries>& places() const { return places_; }
  // The node's bitmap once they are in use.
  const EntryBitmap<kEntries>& after() const { return after_; }

  template <typename P, typename T>
  void Write(P* persister, T* array, const T* from) const {
    for (uint32_t begin = 0; begin < places_.size;) {
      uint32_t end = begin + 1;
      while (end < places_.size && places_.at[end] == places_.at[end - 1] + 1) ++end;
      persister->Write(array + places_.at[begin], from + begin, (end - begin) * sizeof(T));
      begin = end;
    }
  }

 private:
  Positions<kEntries> places_;
  EntryBitmap<kEntries> after_;
};

template <uint32_t kEntries>
EntryBitmap<kEntries> Without(const EntryBitmap<kEntries>& bitmap, const Positions<kEntries>& gone) {
  EntryBitmap<kEntries> after = bitmap.Entries();
  for (uint32_t i = 0; i < gone.size; ++i) after.Clear(gone.at[i]);
  return after;
}

}  // namespace pmlsm::primitives
