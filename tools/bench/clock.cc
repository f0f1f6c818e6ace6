#include "tools/bench/clock.h"

#include <cmath>
#include <fstream>
#include <string>

namespace pmlsm::bench {
namespace {

constexpr uint64_t kCalibrationNanos = 10'000'000;
// Two calibrations that differ by more than this are not those of a constant counter.
constexpr double kDriftMax = 0.002;

template <typename Read>
uint64_t CostOfThousand(Read read, uint64_t (*system_clock)()) {
  const uint64_t start = system_clock();
  for (int i = 0; i < 1000; ++i) static_cast<void>(read());
  return system_clock() - start;
}

}  // namespace

bool TickClock::CounterIsConstant() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("flags", 0) == 0)
      return line.find(" constant_tsc") != std::string::npos &&
             line.find(" nonstop_tsc") != std::string::npos;
  }
  return false;
}

void TickClock::Calibrate() {
  const auto measure = [] {
    const uint64_t start_nanos = ReadSystemClock(), start_ticks = ReadCounter();
    uint64_t nanos;
    do {
      nanos = ReadSystemClock() - start_nanos;
    } while (nanos < kCalibrationNanos);
    return static_cast<double>(nanos) / static_cast<double>(ReadCounter() - start_ticks);
  };
  const double first = measure(), second = measure();
  use_counter_ =
      CounterIsConstant() && std::abs(first / second - 1) < kDriftMax &&
      CostOfThousand(ReadCounter, ReadSystemClock) < CostOfThousand(ReadSystemClock, ReadSystemClock);
  nanos_per_tick_ = use_counter_ ? (first + second) / 2 : 1;
}

}  // namespace pmlsm::bench
