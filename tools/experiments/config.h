// Config: what the flags of a run say, checked. Everything else reads this, never a flag.
#pragma once

#include <cstdint>
#include <string>

namespace pmlsm::experiments {

struct Config {
  bool move_node = false;    // E6
  bool merge_level = false;  // E7
  uint64_t repetitions = 0;
  std::string dir;
  std::string json_file;  // "" = none
  uint64_t seed = 0;
  uint64_t node_bytes_min = 0;  // powers of two
  uint64_t node_bytes_max = 0;
  uint64_t inputs = 0;    // runs that E7 merges
  std::string merge_row;  // the only row of E7 to measure, MergeRowName; "" = all
  bool evict_caches = true;
};

// Reads the command line. Ends the process after --help, and with a message and exit code 1 on an unknown
// flag, a bad value or combination, or an argument that is no flag.
Config ParseCommandLine(int argc, char** argv);

}  // namespace pmlsm::experiments
