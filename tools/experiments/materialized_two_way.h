// The 2-way merge of Figure 3(b) of the paper: neighbours are merged two by two, each result as an array in
// DRAM, until two sources are left. The caller merges these into PMem, and knows by then how many entries that
// can be at most.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pmlsm/comparator.h"
#include "util/internal_iterator.h"

namespace pmlsm::experiments {

struct SizedSource {
  std::unique_ptr<InternalIterator> iterator;
  uint64_t entries;  // at most
  uint64_t bytes;    // of keys and values, at most
};

// Sources are in order of age, and so are the at most two that it leaves in *sources. What newer versions
// shadow is dropped in every step.
Status MergeDownToTwo(const Comparator* comparator, std::vector<SizedSource>* sources);

}  // namespace pmlsm::experiments
