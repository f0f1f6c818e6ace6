// Store: the one door through which bytes reach persistent memory. Outside pmem/, persistent data is const,
// and no pmem_*, pmemobj_* or flush instruction is named (test/door_test bans them).
//
// A store is durable once Fence() has returned OK after it, if it was a Stream, or after the FlushLines that
// covers it, if it was a Copy, Store8 or Cas8. Before that, any subset of the lines may or may not have
// reached the medium. On Medium::kFile, Stream and FlushLines note the pages and Fence calls msync.
//
// A fence covers the stores of its own thread only: one Store is used by one thread at a time, and whoever
// takes it over does so through a lock. Instances are cheap: one a job.
//
// Counting: a Store adds up in plain members and hands the sums to its PersistCounters in Fence and when it
// ends, so that the atomic additions are paid once a fence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "pmem/counters.h"
#include "pmem/device.h"
#include "pmlsm/status.h"
#include "util/check.h"

namespace pmlsm {

class Store {
 public:
  // `counters` outlives the Store.
  Store(Medium medium, PersistCounters* counters) : medium_(medium), counters_(counters) {}
  ~Store() { HandOverCounts(); }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Through the caches; durable after FlushLines and Fence. For bytes that are read or changed again soon.
  void Copy(void* to, const void* from, size_t bytes) {
    if (bytes == 0) return;
    memcpy(to, from, bytes);
    pending_.bytes_modified += bytes;
  }
  // Past the caches (non-temporal); durable after Fence. For bytes that are written once.
  void Stream(void* to, const void* from, size_t bytes);
  // One aligned word, never torn; release order.
  void Store8(uint64_t* to, uint64_t value) {
    DCHECK(reinterpret_cast<uintptr_t>(to) % sizeof(*to) == 0);
    __atomic_store_n(to, value, __ATOMIC_RELEASE);
    pending_.bytes_modified += sizeof(*to);
  }
  // Counted only if it stored.
  bool Cas8(uint64_t* to, uint64_t expected, uint64_t desired) {
    DCHECK(reinterpret_cast<uintptr_t>(to) % sizeof(*to) == 0);
    const bool stored = __atomic_compare_exchange_n(to, &expected, desired, /*weak=*/false, __ATOMIC_ACQ_REL,
                                                    __ATOMIC_ACQUIRE);
    if (stored) pending_.bytes_modified += sizeof(*to);
    return stored;
  }
  // Starts writing back the lines that [from, from + bytes) touches, however it is aligned.
  void FlushLines(const void* from, size_t bytes);
  // IOError if the medium refused (msync); what was not yet durable is then still due.
  Status Fence();

  // Counts what libpmemobj did on behalf of this Store's class of operations: one fenced range.
  void CountForeign(const void* from, size_t bytes);

  Medium medium() const { return medium_; }

 private:
  struct PageRange {
    uintptr_t begin;
    uintptr_t end;
  };
  void CountLines(const void* from, size_t bytes) {
    const uintptr_t first = reinterpret_cast<uintptr_t>(from);
    const uintptr_t last = first + bytes - 1;
    pending_.lines_flushed += last / kCacheLineBytes - first / kCacheLineBytes + 1;
    pending_.blocks_touched += last / kMediaBlockBytes - first / kMediaBlockBytes + 1;
  }
  void NoteDirty(const void* from, size_t bytes);
  Status SyncDirty();
  void HandOverCounts();

  const Medium medium_;
  PersistCounters* const counters_;
  PersistCounts pending_;
  std::vector<PageRange> dirty_;  // kFile only
};

}  // namespace pmlsm
