// TickClock: time stamps cheap enough to take one after every operation.
//
// The CPU's time-stamp counter (about 10 ns a read against 25 ns and more for clock_gettime) if it runs at a
// constant rate and is the cheaper one here, else clock_gettime. This is the one file here that talks to the
// CPU.
//
// Thread safety: Calibrate before other threads start; the rest from any thread.
#pragma once

#include <cstdint>
#include <ctime>

namespace pmlsm::bench {

class TickClock {
 public:
  // Finds out which clock to use and how long a tick is; takes about 20 ms.
  static void Calibrate();

  static uint64_t Now() { return use_counter_ ? ReadCounter() : ReadSystemClock(); }
  // The length of a span of ticks.
  static uint64_t Nanos(uint64_t ticks) {
    return static_cast<uint64_t>(static_cast<double>(ticks) * nanos_per_tick_);
  }
  static double Seconds(uint64_t ticks) { return static_cast<double>(ticks) * nanos_per_tick_ * 1e-9; }

  static bool UsesCounter() { return use_counter_; }

 private:
  static uint64_t ReadSystemClock() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
  }
#if defined(__x86_64__)
  static uint64_t ReadCounter() { return __builtin_ia32_rdtsc(); }
#else
  static uint64_t ReadCounter() { return ReadSystemClock(); }
#endif
  static bool CounterIsConstant();

  static inline bool use_counter_ = false;
  static inline double nanos_per_tick_ = 1;
};

}  // namespace pmlsm::bench
