// AccessTracer: which lines of a memory an operation reads, and what it has libpmem do, exactly. In the program that
// counts (//tools:node_counts) the compiler puts a call before every load, as it does for a race detector, which
// access_tracer_on.cc answers, and libpmem is replaced (pmem/hooks), so that libpmemobj's flushes and fences are seen.
// What libpmemobj itself reads is not, but for what it copies through libpmem, as for a snapshot.
// In the program that measures time nothing is inserted, access_tracer_off.cc is linked, and Available() is false.
//
// Thread safety: one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pmem/counters.h"

namespace pmlsm::lab {

struct LinesRead {
  uint64_t lines = 0;   // different ones, 64 B
  uint64_t blocks = 0;  // different 256 B blocks that they lie in
};

// A memory that is watched, and the reads in it.
enum class Watched { kPmem, kDram };

class AccessTracer {
 public:
  static bool Available();
  // From here on [memory, memory + bytes) is of interest, as the one or the other. `memory` begins a block.
  static void Watch(Watched watched, const void* memory, size_t bytes);
  // What happens between the two is seen.
  static void Start();
  static void Stop();
  // Between the last Start and Stop.
  static LinesRead Seen(Watched watched);
  // All but bytes_modified, which nobody tells libpmem.
  static PersistCounts Persisted();
};

}  // namespace pmlsm::lab
