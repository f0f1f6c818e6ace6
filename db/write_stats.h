// WriteStats: what writers did since Open and since the last look, as text in the layout of RocksDB's "DB Stats".
//
// Thread safety: none; under the DB's mutex.
#pragma once

#include <cstdint>
#include <string>

namespace pmlsm {

// All since Open.
struct WriteCounts {
  double seconds = 0;
  uint64_t writes = 0;  // calls of Put, Delete and Write; each is a commit group of its own
  uint64_t keys = 0;    // records in them
  uint64_t user_bytes = 0;
  uint64_t wal_writes = 0;
  uint64_t wal_syncs = 0;  // fences
  uint64_t wal_bytes = 0;
  uint64_t stall_micros = 0;  // waits and pauses

  WriteCounts operator-(const WriteCounts& other) const;
};

class WriteStats {
 public:
  // Cumulative lines, and Interval ones: what came since the last call.
  std::string Text(const WriteCounts& now);

 private:
  WriteCounts last_;
};

}  // namespace pmlsm
