// Config: what the flags of a run say, checked. Everything else reads this, never a flag.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/device/device_profile.h"

namespace pmlsm::lab {

// A row's name without what Google Benchmark adds to it, and nanoseconds an operation.
using DelayTable = std::map<std::string, double>;

struct Config {
  std::string dir;
  bool quick = false;            // fewer node sizes, smaller memory, fewer operations
  uint64_t instances_bytes = 0;  // nodes of one row, so that visiting them at random misses the caches
  uint64_t operations = 0;       // of one row
  uint64_t seed = 0;
  std::vector<device::DeviceProfile> profiles;  // whose times are modelled, where reads are counted
  // Rows of the counts of another run, and the device whose modelled time each operation waits for; empty = none.
  DelayTable delays;
};

// Reads the command line, after Google Benchmark has taken its own flags from it. Ends the process after --help, and
// with a message and exit code 1 on an unknown flag, a bad value, or an argument that is no flag.
Config ParseCommandLine(int argc, char** argv);

}  // namespace pmlsm::lab
