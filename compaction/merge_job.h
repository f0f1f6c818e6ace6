// MergeJob: one step of merging runs into a run below (the paper's Merge Level, Figure 3(b), (c)).
//
// A merge goes in steps of bounded size, in ascending key order. A step takes the keys from its inputs'
// live_lower up to a cut: 1. Merge, drop, and write tables until about step_bytes, ending between two user
// keys; tables whose keys no other input has are taken over as they are (merge_plan.h). 2. Write new
// descriptors: the output with the new tables appended, and each input from the cut on, without the tables that
// lie below it. 3. The caller publishes all of it at once and drops what is no longer named. So neither the extra
// space nor the pause grows with the DB, and a crash between steps leaves a smaller merge to do.
//
// Thread safety: one thread; runs are immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "compaction/run_writer.h"
#include "levels/version.h"

namespace pmlsm {

struct MergeStep {
  struct Input {
    int level;
    PlacedRun run;
  };
  std::vector<Input> inputs;  // newest first
  PlacedRun output;           // what earlier steps wrote; no run at the first step
  std::vector<std::shared_ptr<const Run>>
      older;                              // runs that are older than all inputs: they may hold their keys
  std::vector<SequenceNumber> snapshots;  // ascending
  uint64_t output_number = 0;
  int output_level = 0;
  uint64_t step_bytes = 0;
  MergeOrder order = MergeOrder::kKWay;
  bool takes_over_tables = true;  // false: copies them all, which leaves free space in larger pieces
  bool filters = true;            // asks the context's compaction filter, if it has one

  struct Result {
    VersionEdit edit;
    std::vector<Span> new_descriptors;  // freed by the caller if publishing fails
    std::vector<TableRef> written;      // marked obsolete by the caller if publishing fails
    bool done = false;                  // no input is left
    uint64_t entries_read = 0;
    uint64_t entries_written = 0;
    uint64_t bytes_written = 0;
    uint64_t bytes_moved = 0;  // of tables that were taken over as they are
  };
  // On error nothing is left behind.
  Status Execute(const JobContext& context, PersistCounters* counters, Result* result) const;
};

}  // namespace pmlsm
