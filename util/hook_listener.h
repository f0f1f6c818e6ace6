// HookPoint and HookListener: the named instants at which a test can hold a thread, and what else it can do
// to the engine. util/hooks.h calls the listener; in release builds nobody does.
#pragma once

#include <cstdint>

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

// What a test implements. Called on the engine's threads.
class HookListener {
 public:
  virtual ~HookListener() = default;
  // May block.
  virtual void Reached(HookPoint point) {}
  // True: the allocation of extents at hand answers NoSpace. Must not block.
  virtual bool FailAllocation() { return false; }
  // Bytes: as if free space were in pieces of this size. Must not block.
  virtual uint64_t LargestSpan() { return UINT64_MAX; }
};

}  // namespace pmlsm
