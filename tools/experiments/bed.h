// Bed: the pool that the experiments run on, with a Publisher of each failure-atomicity mode, and the checks
// of what they wrote.
//
// The published word stands for Figure 4's offset: it lies in the pool's client area and names the newest
// table.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compaction/run_writer.h"
#include "tools/experiments/record.h"
#include "tools/experiments/row.h"

namespace pmlsm::experiments {

class Bed {
 public:
  // Makes a directory of its own below `dir`, which goes with the Bed.
  static Status New(const std::string& dir, std::unique_ptr<Bed>* bed);
  ~Bed();

  Medium medium() const { return pool_->medium(); }
  const Comparator* comparator() const { return comparator_; }

  // For tables of `entries` records: the range that RunWriter takes, and kTransaction snapshots, is that of
  // the one table that certainly holds them.
  JobContext Context(FailureAtomicity atomicity, MergeDestination destination, uint64_t entries);

  // Names the tables' start in the published word. Corruption unless it is one table.
  Status Publish(FailureAtomicity atomicity, const std::vector<TableRef>& tables, PersistCounters* counters);

  // Corruption unless the published word named `tables`, whose entries are `expected`, in this order.
  Status CheckWritten(const std::vector<TableRef>& tables, uint64_t published, const Records& expected) const;
  uint64_t published() const { return *word_; }

  // Bytes that ranges in transactions had since the Bed was made.
  uint64_t snapshot_bytes() const { return snapshot_bytes_; }

 private:
  Bed() = default;
  Status Open(const std::string& dir);
  Publisher* publisher(FailureAtomicity atomicity) const {
    return publishers_[static_cast<size_t>(atomicity)].get();
  }

  const Comparator* const comparator_ = BytewiseComparator();
  std::string dir_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<ExtentAllocator> extents_;
  std::unique_ptr<Publisher> publishers_[3];  // by FailureAtomicity
  uint64_t* word_ = nullptr;
  uint64_t snapshot_bytes_ = 0;
  uint64_t tables_ = 0;
  // A table of n records takes at most table_bytes_base_ + n * table_bytes_per_entry_.
  double table_bytes_base_ = 0;
  double table_bytes_per_entry_ = 0;
};

}  // namespace pmlsm::experiments
