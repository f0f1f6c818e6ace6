// Config: what the flags of a run say, checked. Workloads, report and runner read this, never a flag.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench/engine.h"

namespace pmlsm::bench {

struct Config {
  std::vector<std::string> benchmarks;
  std::string engine;
  EngineOptions engine_options;
  bool use_existing_db = false;

  // Sizes of the data set and of the work; the counts are a thread's.
  uint64_t num = 0;
  uint64_t reads = 0;
  uint64_t scans = 0;  // entries
  uint64_t writes = 0;
  uint64_t deletes = 0;
  size_t key_bytes = 0;
  size_t value_bytes = 0;
  int threads = 1;
  // The counts above were given for all threads together, and fills give each thread keys of its own.
  bool divide_work = false;
  uint64_t duration_seconds = 0;  // 0 = by count
  uint64_t seed = 0;
  uint64_t batch_size = 1;
  uint64_t seek_nexts = 0;
  uint64_t read_percent = 90;
  bool random_with_replacement = false;

  // What is measured and shown.
  bool histogram = false;
  std::string json_file;
  uint64_t stats_interval = 0;  // operations of a thread; 0 = none
  bool progress = true;

  bool MeasuresLatency() const { return histogram || !json_file.empty(); }
};

// Reads the command line into a Config. Ends the process after --help, and with a message and exit code 1 on
// an unknown flag, a bad value or combination, or an argument that is no flag.
Config ParseCommandLine(int argc, char** argv);

}  // namespace pmlsm::bench
