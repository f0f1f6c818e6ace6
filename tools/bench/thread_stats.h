// ThreadStats: what one thread of a benchmark has done, and how long each operation took.
//
// An operation's time is from the end of the one before to its own end, as in db_bench: one time stamp an
// operation, and it includes making the key and the value. An entry of a scan takes no longer than the time stamp
// would, so a scan takes one for 64 entries, and each gets the average.
//
// Thread safety: one thread fills it; done() from any thread; the rest once that thread has ended.
#pragma once

#include <atomic>
#include <cstdint>

#include "tools/bench/clock.h"
#include "tools/bench/config.h"
#include "tools/bench/histogram.h"

namespace pmlsm::bench {

class ThreadStats {
 public:
  ThreadStats(const Config& config, int thread);

  void Start();
  void Finish() { finish_ = TickClock::Now(); }

  // `count` operations that went as one (a batch has one time).
  void FinishedOps(uint64_t count) {
    const uint64_t done = done_.load(std::memory_order_relaxed) + count;
    done_.store(done, std::memory_order_relaxed);  // one writer, so no atomic addition is needed
    if (measures_latency_) {
      const uint64_t now = TickClock::Now();
      histogram_.Add(TickClock::Nanos(now - last_));
      last_ = now;
    }
    if (done >= next_line_) PrintIntervalLine(done);
  }

  // `count` operations, each of which takes less than a time stamp: all get the average time.
  void FinishedEach(uint64_t count) {
    if (measures_latency_ && count > 0) {
      const uint64_t now = TickClock::Now();
      histogram_.Add(TickClock::Nanos(now - last_) / count, count);
      last_ = now;
    }
  }
  // One of those.
  void FinishedUntimed() {
    const uint64_t done = done_.load(std::memory_order_relaxed) + 1;
    done_.store(done, std::memory_order_relaxed);
    if (done >= next_line_) PrintIntervalLine(done);
  }

  uint64_t done() const { return done_.load(std::memory_order_relaxed); }
  double seconds() const { return TickClock::Seconds(finish_ - start_); }
  uint64_t start() const { return start_; }
  uint64_t finish() const { return finish_; }
  const Histogram& histogram() const { return histogram_; }

  // Of the user's keys and values, read or written.
  uint64_t bytes = 0;
  uint64_t reads = 0;
  uint64_t writes = 0;
  // Reads or seeks that found their key.
  uint64_t found = 0;

 private:
  void PrintIntervalLine(uint64_t done);

  const int thread_;
  const bool measures_latency_;
  const uint64_t stats_interval_;
  uint64_t start_ = 0;
  uint64_t finish_ = 0;
  uint64_t last_ = 0;
  Histogram histogram_;

  uint64_t next_line_;
  uint64_t last_line_done_ = 0;
  uint64_t last_line_time_ = 0;

  // A line of its own: the progress display reads it.
  alignas(64) std::atomic<uint64_t> done_{0};
};

}  // namespace pmlsm::bench
