#include "tools/bench/idle.h"

#include <chrono>
#include <ctime>
#include <thread>

namespace pmlsm::bench {
namespace {

double CpuSeconds() {
  timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

}  // namespace

void WaitUntilIdle() {
  constexpr int kQuietLooksInARow = 3;
  constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
  constexpr double kQuietSeconds = 0.001;  // threads that only look at the clock now and then
  for (int quiet = 0; quiet < kQuietLooksInARow;) {
    const double before = CpuSeconds();
    std::this_thread::sleep_for(kBetweenLooks);
    quiet = CpuSeconds() - before < kQuietSeconds ? quiet + 1 : 0;
  }
}

}  // namespace pmlsm::bench
