#include "levels/table_output.h"

#include <algorithm>

#include "util/check.h"

namespace pmlsm {

void TableOutput::Write(const char* data, size_t bytes) {
  if (bytes == 0) return;
  CHECK(bytes <= limit_ && flushed_ <= limit_ - bytes);  // else it would run into a neighbour's span
  sink_->Write(flushed_, data, bytes);
  flushed_ += bytes;
}

char* TableOutput::Reserve(size_t bytes) {
  if (used_ + bytes > capacity_) {
    // Whole lines go to the sink, the rest moves to the front.
    const size_t whole = used_ / kLineBytes * kLineBytes;
    Write(buffer_.get(), whole);
    used_ -= whole;
    if (used_ + bytes > capacity_) {
      capacity_ = used_ + bytes;
      std::unique_ptr<char[]> larger(new char[capacity_]);
      memcpy(larger.get(), buffer_.get() + whole, used_);
      buffer_ = std::move(larger);
    } else {
      memmove(buffer_.get(), buffer_.get() + whole, used_);
    }
  }
  char* const to = buffer_.get() + used_;
  used_ += bytes;
  return to;
}

void TableOutput::Append(const char* data, size_t bytes) {
  if (bytes < kBufferBytes) {
    memcpy(Reserve(bytes), data, bytes);
    return;
  }
  // A large piece goes past the buffer but for its unaligned ends.
  const size_t front = RoundUpToLine(used_) - used_;
  memcpy(Reserve(front), data, front);
  Flush();
  const size_t whole = (bytes - front) / kLineBytes * kLineBytes;
  Write(data + front, whole);
  const size_t rest = bytes - front - whole;
  memcpy(Reserve(rest), data + front + whole, rest);
}

void TableOutput::Flush() {
  Write(buffer_.get(), used_);
  used_ = 0;
}

}  // namespace pmlsm
