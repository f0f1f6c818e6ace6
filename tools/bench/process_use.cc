#include "tools/bench/process_use.h"

#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>

namespace pmlsm::bench {

double ProcessCpuSeconds() {
  timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

uint64_t AnonymousBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    unsigned long long kib = 0;
    if (sscanf(line.c_str(), "RssAnon: %llu kB", &kib) == 1) return uint64_t{kib} << 10;
  }
  return 0;
}

}  // namespace pmlsm::bench
