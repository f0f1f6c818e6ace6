// DerivedSizes: the sizes that follow from the options and the pool, so that a small pool works with default
// options. Printed in LOG and GetProperty("pmlsm.options").
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "pmem/pool_format.h"
#include "pmlsm/options.h"

namespace pmlsm {

class DerivedSizes {
 public:
  uint64_t write_buffer_bytes = 0;  // a memtable is frozen at this size
  uint64_t table_bytes = 0;         // a table's target in a full pool; smaller before (TableBytes)
  uint64_t segment_bytes = 0;       // a log segment; one for a larger record is larger
  uint64_t merge_step_bytes = 0;    // extra space that a merge may take, at least
  uint64_t merge_space_bytes = 0;   // contiguous, held for merges beside the reserve
  uint64_t flush_bytes = 0;         // what the flush of a memtable takes, at most
  uint64_t reserve_bytes = 0;       // space that writes leave to flushes, merges and deletes

  DerivedSizes() = default;
  DerivedSizes(const ColumnFamilyOptions& options, const PoolHeader& pool)
      : extent_bytes_(pool.extent_bytes),
        table_bytes_max_(WholeExtents(options.target_table_bytes)),
        merge_inputs_(static_cast<uint64_t>(options.size_ratio) + 2) {
    // A pool holds the log and the flushed form of all memtables, and the space of a merge step, many times
    // over.
    constexpr uint64_t kPoolShare = 128;
    constexpr uint64_t kMergeStepMax = 64 << 20;
    constexpr uint64_t kMergeSpaceMax = 8 << 20;
    constexpr uint64_t kMergeSpaceShare = 64;
    const uint64_t share = std::max(kLeast, pool.max_pmem_bytes / kPoolShare);
    write_buffer_bytes = std::min<uint64_t>(options.write_buffer_size, share);
    // About two segments a memtable: fewer switches, and still a small part of the pool.
    segment_bytes = WholeExtents(std::max<uint64_t>(kLeast, write_buffer_bytes / 2));
    merge_step_bytes = std::max(kLeast, std::min(kMergeStepMax, pool.max_pmem_bytes / 32));
    table_bytes = TableBytes(pool.max_pmem_bytes);
    merge_space_bytes =
        WholeExtents(std::max(kLeast, std::min(kMergeSpaceMax, pool.max_pmem_bytes / kMergeSpaceShare)));
    // Tables are a quarter larger than memtable contents at most.
    flush_bytes = write_buffer_bytes + write_buffer_bytes / 4 + table_bytes;
    // Every memtable flushed, and one merge step.
    reserve_bytes = options.max_write_buffer_number * flush_bytes + merge_step_bytes + merge_step_bytes / 4;
  }

  // What a merge may take beside its inputs when all runs have `run_bytes`.
  uint64_t ExtraBytes(uint64_t run_bytes) const {
    constexpr uint64_t kRunShare = 10;
    return std::max(merge_step_bytes, run_bytes / kRunShare);
  }

  // A table's target when all runs have `run_bytes`. A merge step keeps a table of each input of which only a part
  // still counts: all of them together must stay within half of the extra space.
  uint64_t TableBytes(uint64_t run_bytes) const {
    const uint64_t bytes = ExtraBytes(run_bytes) / (2 * merge_inputs_) / extent_bytes_ * extent_bytes_;
    return std::min(table_bytes_max_, std::max(bytes, WholeExtents(kLeast)));
  }

  std::string ToString() const {
    return "derived.write_buffer_bytes=" + std::to_string(write_buffer_bytes) +
           "\nderived.table_bytes=" + std::to_string(table_bytes) +
           "\nderived.segment_bytes=" + std::to_string(segment_bytes) +
           "\nderived.merge_step_bytes=" + std::to_string(merge_step_bytes) +
           "\nderived.merge_space_bytes=" + std::to_string(merge_space_bytes) +
           "\nderived.reserve_bytes=" + std::to_string(reserve_bytes) + "\n";
  }

 private:
  static constexpr uint64_t kLeast = 16 << 10;

  uint64_t WholeExtents(uint64_t bytes) const {
    return (bytes + extent_bytes_ - 1) / extent_bytes_ * extent_bytes_;
  }

  uint64_t extent_bytes_ = 1;
  uint64_t table_bytes_max_ = 0;
  uint64_t merge_inputs_ = 1;  // of a merge of a full level into a run
};

}  // namespace pmlsm
