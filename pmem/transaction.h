// Transaction: several ranges of a pool that change together, in a PMDK transaction of the calling thread. After a
// crash, and after an abort, all that was added is as it was before, or as it was at the commit.
//
//   transaction.Add(range, bytes)   1. libpmemobj logs the old bytes, fenced. The caller then stores.
//   transaction.Commit()            2. It flushes what was added, fences, and drops the log, which makes it stay.
//                                   CRASH before that: recovery puts the old bytes back.
//
// The caller counts bytes that it stores; libpmemobj's own lines and fences are in no counter.
//
// Thread safety: one thread from the first Add to the end; one Transaction at a time in a thread (CHECKed).
#pragma once

#include <cstddef>

#include "pmem/pool.h"
#include "pmlsm/status.h"

namespace pmlsm {

class Transaction {
 public:
  // `pool` outlives it. It must have been opened with PoolOptions::snapshots.
  explicit Transaction(Pool* pool) : pool_(pool) {}
  ~Transaction() { Abort(); }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // Starts the transaction if it has not. NoSpace if there is no room for the log: all is undone, as by Abort.
  Status Add(void* range, size_t bytes);
  // Nothing to do if nothing was added.
  Status Commit();
  void Abort();

 private:
  Status Begin();
  void End(int error);

  Pool* const pool_;
  bool open_ = false;
};

}  // namespace pmlsm
