// What a flag's validator says when it refuses a value: on stderr, with the range. gflags then ends the
// process.
#pragma once

#include <cstdint>
#include <string>

namespace pmlsm::bench {

// Both return false for the validator to return, or true if the value lies in the range.
bool RefuseFlag(const char* flag, const std::string& value, const std::string& allowed);
bool CheckFlagRange(const char* flag, int64_t value, int64_t least, int64_t most);

}  // namespace pmlsm::bench
