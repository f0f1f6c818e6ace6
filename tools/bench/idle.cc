#include "tools/bench/idle.h"

#include <chrono>
#include <thread>

#include "tools/bench/process_use.h"

namespace pmlsm::bench {

void WaitUntilIdle() {
  constexpr int kQuietLooksInARow = 3;
  constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
  constexpr double kQuietSeconds = 0.001;  // threads that only look at the clock now and then
  for (int quiet = 0; quiet < kQuietLooksInARow;) {
    const double before = ProcessCpuSeconds();
    std::this_thread::sleep_for(kBetweenLooks);
    quiet = ProcessCpuSeconds() - before < kQuietSeconds ? quiet + 1 : 0;
  }
}

}  // namespace pmlsm::bench
