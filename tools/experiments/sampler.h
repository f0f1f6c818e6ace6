// Sampler: takes one sample of a row: some moves or merges in a row, timed together and counted, each on data
// of its own, so that the clock and the first touch of the code do not hide a small one.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tools/experiments/bed.h"

namespace pmlsm::experiments {

// What one move or merge left behind.
struct Written {
  std::vector<TableRef> tables;
  uint64_t published = 0;
};

class Sampler {
 public:
  Sampler(Bed* bed, bool evict_caches);

  // How many nodes of this size make a sample.
  static uint64_t OperationsPerSample(uint64_t node_bytes);

  // Times operation(i, counters, &written) for i in [0, operations), adds the sample to the row if `record`,
  // compares each table with expected(i), and gives its space back.
  Status Sample(uint64_t operations,
                const std::function<Status(uint64_t, PersistCounters*, Written*)>& operation,
                const std::function<const Records&(uint64_t)>& expected, bool record, Row* row);

 private:
  void EvictCaches();

  Bed* const bed_;
  std::vector<char> evictor_;
};

}  // namespace pmlsm::experiments
