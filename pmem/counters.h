// PersistCounters: what reached the medium through a Store, in the paper's metrics. One instance a class of
// operations (log, flush, merge, manifest), shared by the Stores of that class.
//
// Thread safety: all members are relaxed atomics; a sum over several of them is not a consistent cut.
#pragma once

#include <atomic>
#include <cstdint>

namespace pmlsm {

inline constexpr uint64_t kCacheLineBytes = 64;
// Optane's write-combining buffer writes blocks of this size (van Renen et al., 2019).
inline constexpr uint64_t kMediaBlockBytes = 256;

struct PersistCounters {
  std::atomic<uint64_t> bytes_modified{0};  // handed to Copy, Stream, Store8, Cas8
  std::atomic<uint64_t> lines_flushed{0};   // 64 B lines, streamed or flushed
  std::atomic<uint64_t> blocks_touched{
      0};  // 256 B blocks that those lines lie in, counted at each flush or stream
  std::atomic<uint64_t> fences{0};
};

struct PersistCounts {
  uint64_t bytes_modified = 0;
  uint64_t lines_flushed = 0;
  uint64_t blocks_touched = 0;
  uint64_t fences = 0;

  PersistCounts& operator+=(const PersistCounts& other);
  PersistCounts& operator-=(const PersistCounts& other);
};
PersistCounts Read(const PersistCounters& counters);

}  // namespace pmlsm
