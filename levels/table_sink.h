// TableSink: where a TableBuilder's bytes go; the two destinations of Figure 3 of the paper. A table's bytes
// are handed over in ascending order of their place, but for the header at place 0, which comes last.
//
//   kDirect: each piece is streamed to PMem as it comes.
//   kBuffered: pieces gather in a DRAM buffer; Finish streams all of it in one copy, and touches PMem only then.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>

#include "pmem/pool.h"
#include "pmem/store.h"
#include "pmlsm/options.h"
#include "pmlsm/status.h"

namespace pmlsm {

class TableSink {
 public:
  // `destination` is kDirect or kBuffered. The table starts at span.offset.
  static std::unique_ptr<TableSink> New(MergeDestination destination, Pool* pool, Span span, Store* store);
  virtual ~TableSink() = default;

  // Puts bytes at `place`, counted from the table's start. REQUIRES: inside the span.
  virtual void Write(uint64_t place, const char* data, size_t bytes) = 0;
  // All of it is durable when this returns OK.
  virtual Status Finish() = 0;
};

}  // namespace pmlsm
