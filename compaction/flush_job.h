// FlushJob: moves frozen memtables to one run of level 0 (the paper's Move Node, Figure 3(a)).
//
// Steps: 1. Merge the memtables' iterators, dropping what no reader needs (Survivors). 2. Write the tables
// (RunWriter). 3. Write the run's descriptor. The caller publishes. An error leaves nothing behind.
//
// Thread safety: one thread; reads frozen memtables only.
#pragma once

#include <cstdint>
#include <vector>

#include "compaction/run_writer.h"
#include "levels/version.h"
#include "memtable/memtable.h"

namespace pmlsm {

struct FlushJob {
  std::vector<MemTableRef> memtables;
  std::vector<SequenceNumber> snapshots;  // ascending
  VersionRef
      older;  // the runs, all older than the memtables; a tombstone goes if none of them can hold its key
  uint64_t run_number = 0;

  // *flushed has no run if nothing was left to write.
  Status Execute(const JobContext& context, PersistCounters* counters, PlacedRun* flushed) const;
};

}  // namespace pmlsm
