#include "levels/table_sink.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "util/check.h"

namespace pmlsm {
namespace {

// CRASH before Finish: some lines of the table are there, others not; nothing reaches them.
class DirectSink final : public TableSink {
 public:
  DirectSink(char* start, uint64_t bytes, Store* store) : start_(start), bytes_(bytes), store_(store) {}

  void Write(uint64_t place, const char* data, size_t bytes) override {
    CHECK(place <= bytes_ && bytes <= bytes_ - place);
    store_->Stream(start_ + place, data, bytes);
  }
  Status Finish() override { return store_->Fence(); }

 private:
  char* const start_;
  const uint64_t bytes_;
  Store* const store_;
};

// CRASH before Finish: nothing of the table is there.
//
// The buffer is as large as the span, and not cleared: pages that the table does not reach are never touched, and
// it never moves. Pieces leave no gap, so that every byte that is copied was written.
class BufferedSink final : public TableSink {
 public:
  BufferedSink(char* start, uint64_t bytes, Store* store)
      : start_(start), bytes_(bytes), store_(store), buffer_(new char[bytes]) {}

  void Write(uint64_t place, const char* data, size_t bytes) override {
    CHECK(place <= bytes_ && bytes <= bytes_ - place);
    memcpy(buffer_.get() + place, data, bytes);
    used_ = std::max(used_, place + bytes);
  }
  Status Finish() override {
    store_->Stream(start_, buffer_.get(), used_);
    return store_->Fence();
  }

 private:
  char* const start_;
  const uint64_t bytes_;
  Store* const store_;
  const std::unique_ptr<char[]> buffer_;
  uint64_t used_ = 0;
};

}  // namespace

std::unique_ptr<TableSink> TableSink::New(MergeDestination destination, Pool* pool, Span span, Store* store) {
  CHECK(destination != MergeDestination::kAuto);
  char* const start = pool->Writable(span.offset);
  if (destination == MergeDestination::kDirect) {
    return std::make_unique<DirectSink>(start, span.bytes, store);
  }
  return std::make_unique<BufferedSink>(start, span.bytes, store);
}

}  // namespace pmlsm
