// GapFills: how a counted node without order stays without gaps when entries go: those from the end that stay move
// into the places of those that go.
//
// Thread safety: plain data.
#pragma once

#include <cstdint>

#include "primitives/node_parts.h"

namespace pmlsm::primitives {

// Whether entries have to move, or the node just gets shorter.
template <uint32_t kEntries>
bool LeavesGaps(const Positions<kEntries>& gone, uint32_t count) {
  for (uint32_t i = 0; i < gone.size; ++i) {
    if (gone.at[i] < count - gone.size) return true;
  }
  return false;
}

template <uint32_t kEntries>
class GapFills {
 public:
  GapFills(const Positions<kEntries>& gone, uint32_t count) {
    bool goes[kEntries] = {};
    for (uint32_t i = 0; i < gone.size; ++i) goes[gone.at[i]] = true;
    const uint32_t stay = count - gone.size;
    Position from = count;
    for (Position to = 0; to < stay; ++to) {
      if (!goes[to]) continue;
      do --from;
      while (goes[from]);
      to_.Push(to);
      from_.Push(from);
    }
  }

  // The moves in one of the node's arrays.
  template <typename P, typename T>
  void Apply(P* persister, T* array) const {
    for (uint32_t i = 0; i < to_.size; ++i) {
      persister->Overwrite(array + to_.at[i], array + from_.at[i], sizeof(T));
    }
  }

 private:
  Positions<kEntries> to_;    // ascending, below the new count
  Positions<kEntries> from_;  // descending, from the new count on
};

}  // namespace pmlsm::primitives
