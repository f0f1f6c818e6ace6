// EntryBitmap: which positions of a node are in use. 56 of them a word, so that a word has room for a flag of the
// layout's and the two of PMwCAS; this costs no word for any of Table 4's nodes.
//
// Persistent bitmaps are const but for the words that a publish stores: a change is made to a copy in DRAM.
//
// Thread safety: plain data.
#pragma once

#include <cstdint>

#include "primitives/node_parts.h"

namespace pmlsm::primitives {

inline constexpr uint32_t kEntriesAWord = 56;
inline constexpr uint64_t kEntryBits = (uint64_t{1} << kEntriesAWord) - 1;

constexpr uint32_t BitmapWords(uint32_t entries) { return (entries + kEntriesAWord - 1) / kEntriesAWord; }

template <uint32_t kEntries>
struct EntryBitmap {
  static constexpr uint32_t kWords = BitmapWords(kEntries);

  uint64_t words[kWords];

  // Without flags.
  EntryBitmap Entries() const {
    EntryBitmap plain;
    for (uint32_t i = 0; i < kWords; ++i) plain.words[i] = words[i] & kEntryBits;
    return plain;
  }
  bool Test(Position p) const { return words[p / kEntriesAWord] >> p % kEntriesAWord & 1; }
  uint32_t Count() const {
    uint32_t count = 0;
    for (const uint64_t word : words) count += static_cast<uint32_t>(__builtin_popcountll(word & kEntryBits));
    return count;
  }
  // Calls visit(position) for those in use, ascending.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (uint32_t i = 0; i < kWords; ++i) {
      for (uint64_t left = words[i] & kEntryBits; left != 0; left &= left - 1) {
        visit(i * kEntriesAWord + static_cast<Position>(__builtin_ctzll(left)));
      }
    }
  }
  // The lowest one from `from` on that is not in use; kEntries if there is none.
  Position FindFree(Position from = 0) const {
    for (Position p = from; p < kEntries;) {
      const uint32_t bit = p % kEntriesAWord;
      const uint64_t free_above = (~words[p / kEntriesAWord] & kEntryBits) >> bit;
      if (free_above != 0) {
        const Position found = p + static_cast<Position>(__builtin_ctzll(free_above));
        return found < kEntries ? found : kEntries;
      }
      p += kEntriesAWord - bit;
    }
    return kEntries;
  }
  // No position behind the last one is in use.
  bool EndsAtCapacity() const {
    bool sound = true;
    ForEach([&sound](Position p) { sound = sound && p < kEntries; });
    return sound;
  }

  // Of copies in DRAM.
  void Set(Position p) { words[p / kEntriesAWord] |= uint64_t{1} << p % kEntriesAWord; }
  void Clear(Position p) { words[p / kEntriesAWord] &= ~(uint64_t{1} << p % kEntriesAWord); }
};

// How many words a publish of `changed` stores.
template <uint32_t kEntries>
uint32_t ChangedWords(const EntryBitmap<kEntries>& now, const EntryBitmap<kEntries>& changed) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < now.kWords; ++i) count += (now.words[i] & kEntryBits) != changed.words[i];
  return count;
}

// `changed` becomes what the node holds, when the persister commits.
template <typename P, uint32_t kEntries>
void StageBitmap(P* persister, EntryBitmap<kEntries>* bitmap, const EntryBitmap<kEntries>& changed) {
  for (uint32_t i = 0; i < changed.kWords; ++i) {
    if (bitmap->words[i] != changed.words[i]) {
      persister->Stage(&bitmap->words[i], changed.words[i]);
    }
  }
}

}  // namespace pmlsm::primitives
