// MediaStats: what reached the medium and what lies on it, set against the user's bytes, as text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pmem/counters.h"

namespace pmlsm {

struct MediaFigures {
  uint64_t user_bytes = 0;  // keys and values written since Open
  PersistCounts log, flush, merge, manifest;
  std::vector<uint64_t> level_lines;  // 64 B lines that flushes and merges wrote into each level

  uint64_t run_bytes = 0;          // of all column families
  uint64_t largest_run_bytes = 0;  // of each family's largest one
  double dropped_share = 0;        // of the entries that merges have read: duplicates, and deletions
};

// A line a class of stores: its bytes, 64 B lines, 256 B blocks, fences, and its write amplification at the medium
// (64 B for each line, by the user's bytes). Then what each level was written, and the space amplification.
std::string MediaStatsText(const MediaFigures& figures);

// Bytes of runs that a full merge would leave, about: the share that merges have dropped so far is taken for what they
// will drop; a run alone holds no duplicates, so the largest one counts in full.
uint64_t EstimateLiveBytes(const MediaFigures& figures);

}  // namespace pmlsm
