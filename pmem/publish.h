// Publisher: makes new data part of the DB in one step, in one of the three failure-atomicity modes (Götze et
// al., Figure 4). Contract of every mode: after a crash the published word is old or new, and new implies
// that all that was written and fenced before Publish is durable.
//
//   kTransaction: BeginRange snapshots the destination in a PMDK transaction of its own (log space comes from
//   a span
//     allocated for it), EndRange commits it; Publish puts the word into a transaction.
//   kIndividual: ranges cost nothing; Publish puts the word into a PMDK transaction.
//   kAtomic: ranges cost nothing; Publish is one aligned 8-byte store, flush and fence.
//
// Thread safety: BeginRange/EndRange pair up on one thread, any number of threads at once (a libpmemobj
// transaction belongs to its thread); calls of Publish are serialised by the caller (the manifest's lock).
#pragma once

#include <cstdint>
#include <memory>

#include "pmem/extent_allocator.h"
#include "pmem/pool.h"
#include "pmem/store.h"
#include "pmlsm/options.h"
#include "pmlsm/status.h"

namespace pmlsm {

class Publisher {
 public:
  static std::unique_ptr<Publisher> New(FailureAtomicity mode, Pool* pool, ExtentAllocator* extents);
  virtual ~Publisher() = default;

  // Before an unreachable range is written. NoSpace: nothing is open, nothing to undo.
  virtual Status BeginRange(Span range) = 0;
  // After the range was written and fenced. An error leaves the range as good as never written.
  virtual Status EndRange() = 0;
  // Instead of EndRange, when writing failed half way.
  virtual void AbortRange() = 0;

  // The largest range that BeginRange can hope to snapshot, bytes; UINT64_MAX where ranges cost nothing.
  virtual uint64_t range_bytes_max() const = 0;

  // `store` counts and makes the word durable. An error leaves the old word.
  virtual Status Publish(Store* store, uint64_t* word, uint64_t value) = 0;
};

}  // namespace pmlsm
