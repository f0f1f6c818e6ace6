// DerivedSizes: the sizes that follow from the options and the pool, so that a small pool works with default
// options. Printed in LOG and GetProperty("pmlsm.options").
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "pmem/pool_format.h"
#include "pmlsm/options.h"

namespace pmlsm {

struct DerivedSizes {
  uint64_t write_buffer_bytes = 0;  // a memtable is frozen at this size
  uint64_t table_bytes = 0;         // a table's target
  uint64_t segment_bytes = 0;       // a log segment; one for a larger record is larger
  uint64_t merge_step_bytes = 0;    // what one step of a merge writes, at least
  uint64_t merge_space_bytes = 0;   // contiguous, kept for merges in a pool that cannot grow
  uint64_t flush_bytes = 0;         // what the flush of a memtable takes, at most
  uint64_t reserve_bytes = 0;       // space that writes leave to flushes, merges and deletes

  DerivedSizes() = default;
  DerivedSizes(const Options& options, const PoolHeader& pool) {
    // A pool holds the log and the flushed form of all memtables, and the space of a merge step, many times
    // over.
    constexpr uint64_t kPoolShare = 64;
    constexpr uint64_t kLeast = 16 << 10;
    constexpr uint64_t kMergeStepMax = 64 << 20;
    constexpr uint64_t kMergeSpaceMax = 8 << 20;
    const uint64_t share = std::max(kLeast, pool.max_pmem_bytes / kPoolShare);
    const auto whole_extents = [&pool](uint64_t bytes) {
      return (bytes + pool.extent_bytes - 1) / pool.extent_bytes * pool.extent_bytes;
    };
    write_buffer_bytes = std::min<uint64_t>(options.write_buffer_size, share);
    table_bytes = whole_extents(std::min<uint64_t>(options.target_table_bytes, share));
    // About two segments a memtable: fewer switches, and still a small part of the pool.
    segment_bytes = whole_extents(std::max<uint64_t>(kLeast, write_buffer_bytes / 2));
    merge_step_bytes = std::max(table_bytes, std::min(kMergeStepMax, pool.max_pmem_bytes / 32));
    merge_space_bytes = whole_extents(std::min(kMergeSpaceMax, share));
    // Tables are a quarter larger than memtable contents at most.
    flush_bytes = write_buffer_bytes + write_buffer_bytes / 4 + table_bytes;
    // Every memtable flushed, one merge step, and the piece kept for merges.
    reserve_bytes = options.max_write_buffer_number * flush_bytes + merge_step_bytes + merge_step_bytes / 4 +
                    merge_space_bytes;
  }

  std::string ToString() const {
    return "derived.write_buffer_bytes=" + std::to_string(write_buffer_bytes) +
           "\nderived.table_bytes=" + std::to_string(table_bytes) +
           "\nderived.segment_bytes=" + std::to_string(segment_bytes) +
           "\nderived.merge_step_bytes=" + std::to_string(merge_step_bytes) +
           "\nderived.merge_space_bytes=" + std::to_string(merge_space_bytes) +
           "\nderived.reserve_bytes=" + std::to_string(reserve_bytes) + "\n";
  }
};

}  // namespace pmlsm
