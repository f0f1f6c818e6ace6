// CompactionStats: what flushes and merges have read, written and dropped, level by level, as a table in the
// layout of RocksDB's "Compaction Stats", so that what reads the one reads the other.
//
// Work is booked at the level it writes to. Units: bytes, entries, microseconds.
//
// Thread safety: none; under the DB's mutex.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "pmlsm/options.h"

namespace pmlsm {

struct MergeRecord {
  int output_level = 0;
  uint64_t upper_bytes_read = 0;   // of inputs above the output level
  uint64_t output_bytes_read = 0;  // of inputs on it
  uint64_t bytes_written = 0;
  uint64_t bytes_moved = 0;  // of tables that changed level as they are
  uint64_t entries_in = 0;
  uint64_t entries_dropped = 0;
  uint64_t micros = 0;
  uint64_t cpu_micros = 0;
  MergeOrder order = MergeOrder::kKWay;
  MergeDestination destination = MergeDestination::kDirect;
};

// What lies in a level now.
struct LevelShape {
  size_t tables = 0;
  size_t busy_tables = 0;  // inputs of merges that run
  uint64_t bytes = 0;
  double score = 0;  // >= 1: a merge is due
};

class CompactionStats {
 public:
  explicit CompactionStats(int levels) : levels_(levels) {}

  void NoteFlush(uint64_t bytes_written, uint64_t micros, uint64_t cpu_micros);
  void NoteMerge(const MergeRecord& merge);
  // A run that went to `output_level` as it is; no merge is counted, as in RocksDB.
  void NoteMove(int output_level, uint64_t bytes);

  // The table: a line a level that holds or did something, Sum, and Int: what came since the last call.
  std::string Table(const std::vector<LevelShape>& shapes);
  // A line each pair of order and destination that was used: count, seconds, entries, ns an entry.
  std::string Strategies() const;
  // Entries dropped of entries read by merges; 0 if none were read.
  double DroppedShare() const;

 private:
  struct Work {
    uint64_t upper_bytes_read = 0;
    uint64_t output_bytes_read = 0;
    uint64_t bytes_written = 0;
    uint64_t bytes_moved = 0;
    uint64_t entries_in = 0;
    uint64_t entries_dropped = 0;
    uint64_t micros = 0;
    uint64_t cpu_micros = 0;
    uint64_t count = 0;

    void Add(const Work& other, bool subtract = false);
  };
  struct Strategy {
    uint64_t count = 0;
    uint64_t micros = 0;
    uint64_t entries = 0;
  };
  static std::string Line(const std::string& name, const LevelShape& shape, const Work& work,
                          uint64_t ingest_bytes);

  std::vector<Work> levels_;
  uint64_t flushed_bytes_ = 0;
  Work last_sum_;  // at the last Table
  uint64_t last_flushed_bytes_ = 0;
  std::array<std::array<Strategy, 3>, 3> strategies_;  // by order and destination
};

}  // namespace pmlsm
