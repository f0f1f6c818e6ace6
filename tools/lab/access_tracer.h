// LineTracer: which lines of a memory an operation reads, exactly. In the program that counts (//tools:node_counts) the
// compiler puts a call before every load, as it does for a race detector, and line_tracer_on.cc answers these calls.
// In the program that measures time nothing is inserted, line_tracer_off.cc is linked, and Available() is false.
//
// Thread safety: one thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pmlsm::lab {

struct LinesRead {
  uint64_t lines = 0;   // different ones, 64 B
  uint64_t blocks = 0;  // different 256 B blocks that they lie in
};

// A memory that is watched, and the reads in it.
enum class Watched { kPmem, kDram };

class LineTracer {
 public:
  static bool Available();
  // From here on [memory, memory + bytes) is of interest, as the one or the other. `memory` begins a block.
  static void Watch(Watched watched, const void* memory, size_t bytes);
  // What is read between the two.
  static void Start();
  static void Stop();
  // Between the last Start and Stop.
  static LinesRead Seen(Watched watched);
};

}  // namespace pmlsm::lab
