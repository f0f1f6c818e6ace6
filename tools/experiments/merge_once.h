// MergeOnce: one merge of E7. It stays a function of its own, in a file of its own, so that a profiler can count
// what happens inside it, and nothing else (scripts/merge_choice_bounds).
//
// Thread safety: one thread.
#pragma once

#include <memory>
#include <vector>

#include "compaction/merge_choice.h"
#include "tools/experiments/bed.h"
#include "tools/experiments/sampler.h"

namespace pmlsm::experiments {

using Runs = std::vector<std::unique_ptr<const Run>>;  // newest first

// 1. With MergeForm::kAuto: chooses. 2. Streams the table and fences. 3. Publishes its offset. 4. With kAuto: tells
// the chooser what was dropped.
Status MergeOnce(const Setup& setup, const Runs& runs, MergeChooser* chooser, Bed* bed,
                 PersistCounters* counters, Written* written);

}  // namespace pmlsm::experiments
