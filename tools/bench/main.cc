// pmlsm_bench: db_bench's workloads on pmlsm, in db_bench's format. --help lists flags and benchmarks.
#include <cstdio>

#include "tools/bench/clock.h"
#include "tools/bench/config.h"
#include "tools/bench/runner.h"

int main(int argc, char** argv) {
  const pmlsm::bench::Config config = pmlsm::bench::ParseCommandLine(argc, argv);
  pmlsm::bench::TickClock::Calibrate();
  const pmlsm::Status s = pmlsm::bench::Run(config);
  if (s.ok()) return 0;
  fprintf(stderr, "pmlsm_bench: %s: %s\n", config.engine_options.path.c_str(), s.ToString().c_str());
  return 1;
}
