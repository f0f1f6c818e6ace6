// Publisher: makes new data part of the DB in one step, in one of the three failure-atomicity modes (Götze et
// al., Figure 4). Contract of every mode: after a crash the published word is old or new, and new implies
// that all that was written and fenced before Publish is durable.
//
//   kTransaction: BeginRange snapshots the destination in a PMDK transaction of its own, EndRange commits it;
//     Publish puts the word into a transaction.
//   kIndividual: ranges cost nothing; Publish puts the word into a PMDK transaction.
//   kAtomic: ranges cost nothing; Publish is one aligned 8-byte store, flush and fence.
//
// Log space of kTransaction comes from libpmemobj's heap, outside the groups, and a reserve of it is held
// from New on, so that a full pool can still merge. It cannot come from an extent: the recovery of
// libpmemobj 1.12 frees a log buffer that the user gave as if it were an object of its own, and would free a
// piece of a group.
//
// What is counted: the word, its line and block and one fence, in every mode. libpmemobj's log (a line for
// the word, the whole range for a snapshot) and its own fences are not.
//
// Thread safety: BeginRange/EndRange pair up on one thread, any number of threads at once (a libpmemobj
// transaction belongs to its thread); calls of Publish are serialised by the caller (the manifest's lock).
#pragma once

#include <cstdint>
#include <memory>

#include "pmem/pool.h"
#include "pmem/store.h"
#include "pmlsm/options.h"
#include "pmlsm/status.h"

namespace pmlsm {

class Publisher {
 public:
  // `pool` outlives it.
  static std::unique_ptr<Publisher> New(FailureAtomicity mode, Pool* pool);
  virtual ~Publisher() = default;

  // Before an unreachable range is written; one range is open in a thread at a time. NoSpace: nothing is
  // open, nothing to undo. A range larger than range_bytes_max is not snapshotted: nothing reaches it before
  // it is published, so writing it as in kIndividual is as safe.
  virtual Status BeginRange(Span range) = 0;
  // After the range was written and fenced. An error leaves the range as good as never written.
  virtual Status EndRange() = 0;
  // Instead of EndRange, when writing failed half way.
  virtual void AbortRange() = 0;

  // The largest range that BeginRange snapshots, bytes; UINT64_MAX where ranges cost nothing.
  virtual uint64_t range_bytes_max() const = 0;

  // No range is open in this thread. `store` counts and makes the word durable. An error leaves the old word.
  virtual Status Publish(Store* store, uint64_t* word, uint64_t value) = 0;
};

}  // namespace pmlsm
