// HookPoint: the named instants at which tests can hold a thread (util/hooks_active.h).
#pragma once

namespace pmlsm {

enum class HookPoint {
  kViewTaken,          // a Get or an iterator has pinned its view; no lock is held
  kFlushPicked,        // a flush has its memtables; no lock is held
  kFlushWritten,       // its run is durable, not published; no lock is held
  kMergeStepPicked,    // a merge step has its inputs; no lock is held
  kMergeStepWritten,   // its output is durable, not published; no lock is held
  kPublished,          // a manifest is in force, what it replaced is not free yet; the DB's mutex is held
  kLogRetired,         // log segments have been freed; the DB's mutex is held
  kRecoveryPublished,  // an open has published its log segment; background work has not started
};

}  // namespace pmlsm
