// What a run prints on stdout: db_bench's header and lines, plus what PMem cost an operation; and the JSON
// file.
//
// Thread safety: the main thread.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/config.h"
#include "tools/bench/engine.h"
#include "tools/bench/outcome.h"
#include "tools/bench/workloads.h"

namespace pmlsm::bench {

// The engine is open.
void PrintHeader(const Config& config, Engine* engine);
void PrintOutcome(const Config& config, const Workload& workload, const Outcome& outcome);
// A benchmark that needs a fresh DB, with --use_existing_db.
void PrintSkipped(const std::string& benchmark);

// An array of objects, one an outcome. IOError names the file.
Status WriteJson(const Config& config, const std::string& medium, const std::vector<Outcome>& outcomes);

}  // namespace pmlsm::bench
