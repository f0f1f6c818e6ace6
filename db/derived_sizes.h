// The sizes that follow from the options and the pool, so that a small pool works with default options: DerivedSizes
// of a column family, SharedSizes of all that a DB has. Printed in LOG and GetProperty("pmlsm.options").
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "pmem/pool_format.h"
#include "pmlsm/options.h"

namespace pmlsm {

class DerivedSizes {
 public:
  static constexpr uint64_t kPoolShare = 128;  // a memtable's of the pool, at most

  uint64_t write_buffer_bytes = 0;  // a memtable is frozen at this size
  uint64_t table_bytes = 0;         // a table's target in a full pool; smaller before (TableBytes)
  uint64_t segment_bytes = 0;       // a log segment; one for a larger record is larger
  uint64_t merge_step_bytes = 0;    // extra space that a merge may take, at least
  uint64_t merge_space_bytes = 0;   // contiguous, held for merges beside the reserve
  uint64_t flush_bytes = 0;         // what the flush of a memtable takes, at most
  uint64_t memtables_bytes = 0;     // what the family's memtables may take
  uint64_t reserve_bytes = 0;       // space that writes leave to flushes, merges and deletes, if it is alone

  DerivedSizes() = default;
  DerivedSizes(const ColumnFamilyOptions& options, const PoolHeader& pool)
      : extent_bytes_(pool.extent_bytes),
        table_bytes_max_(WholeExtents(options.target_table_bytes)),
        merge_inputs_(static_cast<uint64_t>(options.size_ratio) + 2) {
    // A pool holds the log and the flushed form of all memtables, and the space of a merge step, many times
    // over.
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
    memtables_bytes = options.max_write_buffer_number * write_buffer_bytes;
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
           "\nderived.merge_step_bytes=" + std::to_string(merge_step_bytes) + "\n";
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

struct SharedSizes {
  // Those of DerivedSizes, the largest of any family.
  uint64_t write_buffer_bytes = 0;
  uint64_t table_bytes = 0;
  uint64_t flush_bytes = 0;
  uint64_t merge_space_bytes = 0;

  uint64_t memtables_bytes = 0;   // what all memtables may take
  bool shares_memtables = false;  // whether that has to be watched: one family keeps to its own options
  uint64_t limit_step_bytes = 0;  // in which it is given out
  uint64_t log_bytes = 0;         // of segments; past it, who holds the oldest is flushed
  uint64_t reserve_bytes = 0;     // space that writes leave to flushes, merges and deletes
  uint64_t routing_bytes = 0;     // what all TableRoutings may take

  SharedSizes() = default;
  // `machine_bytes` of DRAM.
  SharedSizes(const DBOptions& options, const PoolHeader& pool, const std::vector<DerivedSizes>& families,
              uint64_t machine_bytes) {
    constexpr uint64_t kRoutingShare = 8;
    constexpr uint64_t kMemTablesBytes = 64 << 20;
    constexpr uint64_t kMemTablesPoolShare = DerivedSizes::kPoolShare / 4;
    constexpr uint64_t kSteps = 256;
    constexpr uint64_t kLogShare = 4;
    constexpr uint64_t kExtentsOfAFlush = 4;  // that it may not fill: of its tables, and the descriptor
    uint64_t largest = 0;                     // of one family
    for (const DerivedSizes& family : families) {
      write_buffer_bytes = std::max(write_buffer_bytes, family.write_buffer_bytes);
      table_bytes = std::max(table_bytes, family.table_bytes);
      flush_bytes = std::max(flush_bytes, family.flush_bytes);
      merge_space_bytes = std::max(merge_space_bytes, family.merge_space_bytes);
      reserve_bytes = std::max(reserve_bytes, family.reserve_bytes);
      largest = std::max(largest, family.memtables_bytes);
    }
    const uint64_t asked =
        options.db_write_buffer_size != 0 ? options.db_write_buffer_size : std::max(kMemTablesBytes, largest);
    memtables_bytes = std::min(asked, std::max(largest, pool.max_pmem_bytes / kMemTablesPoolShare));
    shares_memtables = families.size() > 1 || memtables_bytes < largest;
    routing_bytes = options.dram_budget_bytes == 0
                        ? machine_bytes / kRoutingShare
                        : options.dram_budget_bytes - std::min(options.dram_budget_bytes, memtables_bytes);
    limit_step_bytes = memtables_bytes / kSteps;
    log_bytes = options.max_total_wal_bytes != 0 ? options.max_total_wal_bytes
                                                 : kLogShare * std::max(memtables_bytes, largest);
    if (families.size() > 1) {
      // All memtables flushed, each family's into tables of its own; the merge step is in the largest reserve.
      const uint64_t more = memtables_bytes - std::min(memtables_bytes, largest);
      reserve_bytes += more + more / 4 + families.size() * kExtentsOfAFlush * pool.extent_bytes;
    }
  }

  std::string ToString() const {
    return "derived.memtables_bytes=" + std::to_string(memtables_bytes) +
           "\nderived.routing_bytes=" + std::to_string(routing_bytes) +
           "\nderived.log_bytes=" + std::to_string(log_bytes) +
           "\nderived.merge_space_bytes=" + std::to_string(merge_space_bytes) +
           "\nderived.reserve_bytes=" + std::to_string(reserve_bytes) + "\n";
  }
};

}  // namespace pmlsm
