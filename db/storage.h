// Storage: what must live as long as anybody reads: the lock file, the mapped pool, the space map and the
// read views.
//
// It belongs to the DB while that is open. If the DB object is destroyed under live iterators or pinned
// slices, the storage is set adrift: the last of them to let go closes the pool and releases the lock.
//
// Thread safety: the members' own. Unpin and SetAdrift may run at once in any threads.
#pragma once

#include <memory>
#include <vector>

#include "db/db_lock.h"
#include "db/read_view.h"
#include "db/scan_feedback.h"
#include "pmem/extent_allocator.h"
#include "pmem/pool.h"
#include "util/dram_budget.h"

namespace pmlsm {

// What the readers of a column family share.
struct FamilyReads {
  ScanFeedback scans;
  ViewPool views;
  bool closed = false;  // no new readers; as ViewPool's lists, under the DB's mutex
};

struct Storage {
  // In order of construction; destroyed the other way round.
  DBLock lock;
  std::unique_ptr<Pool> pool;
  std::unique_ptr<ExtentAllocator> extents;
  DramBudget routing{0};                            // of all tables
  std::vector<std::unique_ptr<FamilyReads>> reads;  // of all families

  // The same as ViewPool's, of all families. Lets go of those that are closed and have no reader.
  size_t Reclaim();
  bool AnyPinned() const;

  // Lets go of a pin, and of adrift storage that nobody reads any more.
  static void Unpin(ViewPin pin);
  // REQUIRES: the DB is closed (no current view).
  static void SetAdrift(std::unique_ptr<Storage> storage);
};

}  // namespace pmlsm
