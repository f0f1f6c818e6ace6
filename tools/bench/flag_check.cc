#include "tools/bench/flag_check.h"

#include <cstdio>

namespace pmlsm::bench {

bool RefuseFlag(const char* flag, const std::string& value, const std::string& allowed) {
  fprintf(stderr, "--%s=%s: must be %s\n", flag, value.c_str(), allowed.c_str());
  return false;
}

bool CheckFlagRange(const char* flag, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return true;
  return RefuseFlag(flag, std::to_string(value), std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace pmlsm::bench
