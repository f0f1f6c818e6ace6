// Sorts entries by internal order: a radix sort on eight bytes of their keys, then full comparisons where
// those are equal.
//
// Thread safety: none of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "memtable/entry.h"
#include "memtable/key_order.h"

namespace pmlsm {

struct WordEntry {
  uint64_t word;
  const MemEntry* entry;
};

// Fills in the words and sorts.
void SortEntries(const KeyOrder& order, std::vector<WordEntry>* entries);

}  // namespace pmlsm
