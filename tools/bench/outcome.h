// Outcome: what a benchmark measured, over all its threads.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tools/bench/histogram.h"

namespace pmlsm::bench {

// What reached the medium: PersistCounters of the library as its property "pmlsm.pmem-counters" prints them.
struct PmemCounts {
  uint64_t bytes = 0;
  uint64_t lines = 0;   // of 64 B
  uint64_t blocks = 0;  // of 256 B
  uint64_t fences = 0;
};
// By class of operations: log, flush, merge, manifest.
using PmemCountsByClass = std::map<std::string, PmemCounts>;

// From the property's text, a line a class; lines that are none are skipped.
PmemCountsByClass ParsePmemCounts(const std::string& text);
PmemCountsByClass Difference(const PmemCountsByClass& after, const PmemCountsByClass& before);
PmemCounts Sum(const PmemCountsByClass& counts);

struct Outcome {
  std::string benchmark;
  int threads = 0;
  uint64_t operations = 0;
  double seconds = 0;         // from the first thread's start to the last one's end
  double thread_seconds = 0;  // the sum over the threads
  uint64_t bytes = 0;         // of the user's keys and values
  uint64_t reads = 0;
  uint64_t writes = 0;
  uint64_t found = 0;
  // The writer beside the readers, which is not in the figures above.
  uint64_t writer_operations = 0;
  double writer_ops_per_second = 0;
  Histogram histogram;
  double cpu_seconds = 0;        // of all threads of the process, background work included
  uint64_t anonymous_bytes = 0;  // memory of the process's own, afterwards
  int64_t memtable_bytes = -1;   // afterwards; -1: the engine does not say
  // Of writes: the longest append of the last appendfloor before this; 0 = there was none.
  uint64_t floor_nanos = 0;
  bool has_pmem_counts = false;
  PmemCountsByClass pmem;

  // How much longer the longest write took than that; 0 if it did not.
  uint64_t NanosAboveFloor() const {
    return histogram.max() > floor_nanos ? histogram.max() - floor_nanos : 0;
  }
  double OpsPerSecond() const { return seconds > 0 ? static_cast<double>(operations) / seconds : 0; }
};

}  // namespace pmlsm::bench
