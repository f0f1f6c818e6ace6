#include "tools/bench/thread_stats.h"

#include <cinttypes>
#include <cstdio>
#include <limits>

namespace pmlsm::bench {

ThreadStats::ThreadStats(const Config& config, int thread)
    : thread_(thread),
      measures_latency_(config.MeasuresLatency()),
      stats_interval_(config.stats_interval),
      next_line_(stats_interval_ == 0 ? std::numeric_limits<uint64_t>::max() : stats_interval_) {}

void ThreadStats::Start() { start_ = last_ = last_line_time_ = TickClock::Now(); }

// db_bench's line: (since the last line, since the start) each time.
void ThreadStats::PrintIntervalLine(uint64_t done) {
  const uint64_t now = TickClock::Now();
  const double seconds_since_line = TickClock::Seconds(now - last_line_time_);
  const double seconds = TickClock::Seconds(now - start_);
  const uint64_t done_since_line = done - last_line_done_;
  fprintf(stderr,
          "... thread %d: (%" PRIu64 ",%" PRIu64 ") ops and (%.1f,%.1f) ops/second in (%.6f,%.6f) seconds\n",
          thread_, done_since_line, done, static_cast<double>(done_since_line) / seconds_since_line,
          static_cast<double>(done) / seconds, seconds_since_line, seconds);
  last_line_done_ = done;
  last_line_time_ = now;
  next_line_ = done + stats_interval_;
}

}  // namespace pmlsm::bench
