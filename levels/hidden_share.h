// HiddenShare: how many of a version's entries newer runs hide, by a sample. What a merge of all runs would drop, but for
// what snapshots see and for deletions.
#pragma once

#include <cstdint>

#include "levels/version.h"
#include "pmlsm/status.h"

namespace pmlsm {

// Draws `samples` keys, from each run by its share of the entries, and looks each up in the newer runs. *share is in
// [0, 1], with a standard deviation of at most 0.5 / sqrt(samples); 0 for less than two runs. Entries count alike,
// whatever their size. Versions of a key within a run (snapshots hold them) count as not hidden.
// Thread safety: any thread. Corruption: from a damaged table.
Status HiddenShare(const Version& version, int samples, uint64_t seed, double* share);

}  // namespace pmlsm
