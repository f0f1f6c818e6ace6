// Runner: runs the benchmarks of a Config one after another on one engine.
#pragma once

#include "pmlsm/status.h"
#include "tools/bench/config.h"

namespace pmlsm::bench {

// Removes the DB at the path first, unless the config keeps it, and leaves the last benchmark's DB there. An
// error inside a benchmark ends the process.
Status Run(const Config& config);

}  // namespace pmlsm::bench
