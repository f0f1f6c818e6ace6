// WorkLimit: when a thread has done its share, by count or by time.
#pragma once

#include <cstdint>

#include "tools/bench/clock.h"

namespace pmlsm::bench {

class WorkLimit {
 public:
  // seconds = 0: after `operations`; else after that time, however many there were.
  WorkLimit(uint64_t operations, uint64_t seconds)
      : operations_(operations), seconds_(seconds), start_(TickClock::Now()) {}

  // Called before each step of `count` operations.
  bool Done(uint64_t count = 1) {
    if (seconds_ == 0) {
      const bool done = started_ >= operations_;
      started_ += count;
      return done;
    }
    if (steps_++ % kStepsPerLook != 0) return false;
    return TickClock::Seconds(TickClock::Now() - start_) >= static_cast<double>(seconds_);
  }

 private:
  static constexpr uint64_t kStepsPerLook = 16;

  const uint64_t operations_;
  const uint64_t seconds_;
  const uint64_t start_;
  uint64_t started_ = 0;
  uint64_t steps_ = 0;
};

}  // namespace pmlsm::bench
