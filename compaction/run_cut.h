// RunCut: cuts a run at the bounds of a range of user keys, so that the part inside can be merged by itself.
// JoinRuns: the way back.
//
// Steps: 1. Tables that reach over a bound are copied, a table on each side of it; all others are taken over as
// they are. 2. Write a descriptor for each part that has a key. The caller publishes; the parts hold what the run
// held, and so readers notice nothing.
//
// Thread safety: one thread a RunCut; runs are immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compaction/merge_job.h"

namespace pmlsm {

// Both inclusive; none = no bound.
struct KeyBounds {
  std::optional<std::string> begin;
  std::optional<std::string> end;

  // Whether a table of the run may hold a key inside.
  bool Overlap(const Run& run) const;
  // Whether all of its keys are inside.
  bool Cover(const Comparator* comparator, const Run& run) const;
};

struct RunCut {
  int level = 0;
  PlacedRun run;
  KeyBounds bounds;
  // Names of the parts, in key order.
  uint64_t below_number = 0;
  uint64_t inside_number = 0;
  uint64_t above_number = 0;

  // On error nothing is left behind.
  Status Execute(const JobContext& context, PersistCounters* counters, MergeStep::Result* result) const;
};

// The tables of all `runs` as one run, named `number`. Null if their key ranges overlap, or if one begins with keys
// that do not count (live_lower) and others lie below it: a run has one live_lower.
std::shared_ptr<const Run> JoinRuns(const Comparator* comparator, uint64_t number,
                                    const std::vector<std::shared_ptr<const Run>>& runs);

}  // namespace pmlsm
