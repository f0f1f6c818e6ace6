// TableOutput: a builder's way to its sink: gathers small pieces, hands on whole lines in ascending order.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstring>
#include <memory>

#include "levels/region.h"
#include "levels/table_sink.h"

namespace pmlsm {

class TableOutput {
 public:
  // Starts at `place`, a multiple of 64; never writes at or past `limit` (CHECK).
  TableOutput(TableSink* sink, uint64_t place, uint64_t limit)
      : sink_(sink),
        limit_(limit),
        flushed_(place),
        buffer_(new char[kBufferBytes]),
        capacity_(kBufferBytes) {}

  uint64_t place() const { return flushed_ + used_; }

  void Append(const char* data, size_t bytes);
  // Zeros up to the next line.
  void PadToLine() {
    const size_t zeros = RoundUpToLine(used_) - used_;
    memset(Reserve(zeros), 0, zeros);
  }
  // The caller fills in `bytes` bytes at place(), before the next call.
  char* Reserve(size_t bytes);
  // All that is left, the last line possibly in part.
  void Flush();

 private:
  static constexpr size_t kBufferBytes = size_t{32} << 10;

  void Write(const char* data, size_t bytes);

  TableSink* const sink_;
  const uint64_t limit_;
  uint64_t flushed_;  // all before it is with the sink
  std::unique_ptr<char[]> buffer_;
  size_t capacity_;
  size_t used_ = 0;
};

}  // namespace pmlsm
