#include "tools/bench/progress.h"

#include <unistd.h>

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <utility>

namespace pmlsm::bench {
namespace {

constexpr std::chrono::milliseconds kTerminalInterval(200);
constexpr std::chrono::milliseconds kLogInterval(10000);

}  // namespace

Progress::Progress(std::string benchmark, uint64_t total, std::function<uint64_t()> done)
    : benchmark_(std::move(benchmark)),
      total_(total),
      done_(std::move(done)),
      on_terminal_(isatty(STDERR_FILENO) != 0),
      thread_([this] { Run(); }) {}

Progress::~Progress() {
  {
    MutexLock lock(&mutex_);
    stop_ = true;
    wake_.Signal();
  }
  thread_.join();
  if (printed_ && on_terminal_) fprintf(stderr, "\r\033[K");
}

void Progress::Run() {
  using Clock = std::chrono::steady_clock;
  const auto interval = on_terminal_ ? kTerminalInterval : kLogInterval;
  uint64_t last_done = 0;
  Clock::time_point last_time = Clock::now();
  MutexLock lock(&mutex_);
  while (true) {
    const Clock::time_point due = last_time + interval;
    while (!stop_ && Clock::now() < due) {
      wake_.WaitFor(&mutex_, std::chrono::ceil<std::chrono::milliseconds>(due - Clock::now()));
    }
    if (stop_) return;
    const Clock::time_point now = Clock::now();
    const uint64_t done = done_();
    const double seconds = std::chrono::duration<double>(now - last_time).count();
    Print(done, static_cast<double>(done - last_done) / seconds);
    last_done = done;
    last_time = now;
  }
}

void Progress::Print(uint64_t done, double ops_per_second) {
  char percent[32] = "";
  if (total_ > 0)
    snprintf(percent, sizeof(percent), " (%.0f %%)",
             100 * static_cast<double>(done) / static_cast<double>(total_));
  fprintf(stderr, "%s... %s: finished %" PRIu64 " ops%s, %.0f ops/sec%s", on_terminal_ ? "\r" : "",
          benchmark_.c_str(), done, percent, ops_per_second, on_terminal_ ? "\033[K" : "\n");
  fflush(stderr);
  printed_ = true;
}

}  // namespace pmlsm::bench
