// Store: the one door through which bytes reach persistent memory. Outside pmem/, persistent data is const,
// and no pmem_*, pmemobj_* or flush instruction is named (test/door_test bans them).
//
// A store is durable once Fence() has returned OK after it, if it was a Stream, or after the FlushLines that
// covers it, if it was a Copy, Store8 or Cas8. Before that, any subset of the lines may or may not have
// reached the medium. On Medium::kFile, Stream and FlushLines note the pages and Fence calls msync.
//
// A fence covers the stores of its own thread only: one Store is used by one thread at a time, and whoever
// takes it over does so through a lock. Instances are cheap: one a job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pmem/counters.h"
#include "pmem/device.h"
#include "pmlsm/status.h"

namespace pmlsm {

class Store {
 public:
  Store(Medium medium, PersistCounters* counters) : medium_(medium), counters_(counters) {}

  // Through the caches; durable after FlushLines and Fence. For bytes that are read or changed again soon.
  void Copy(void* to, const void* from, size_t bytes);
  // Past the caches (non-temporal); durable after Fence. For bytes that are written once.
  void Stream(void* to, const void* from, size_t bytes);
  // One aligned word, never torn; release order.
  void Store8(uint64_t* to, uint64_t value);
  bool Cas8(uint64_t* to, uint64_t expected, uint64_t desired);
  // Starts writing back the lines that [from, from + bytes) touches, however it is aligned.
  void FlushLines(const void* from, size_t bytes);
  // IOError if the medium refused (msync).
  Status Fence();

  Medium medium() const { return medium_; }

 private:
  struct PageRange {
    uintptr_t begin;
    uintptr_t end;
  };
  void CountLines(const void* from, size_t bytes);
  void NoteDirty(const void* from, size_t bytes);

  const Medium medium_;
  PersistCounters* const counters_;
  std::vector<PageRange> dirty_;  // kFile only
};

}  // namespace pmlsm
