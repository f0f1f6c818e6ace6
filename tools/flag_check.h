// What tools that use gflags share: how they refuse a flag, and how they read the command line.
//
// Thread safety: none; before there are threads.
#pragma once

#include <cstdint>
#include <string>

namespace pmlsm {

// For validators: both print what is allowed on stderr and return false (gflags then ends the process), or return
// true if the value lies in the range.
bool RefuseFlag(const char* flag, const std::string& value, const std::string& allowed);
bool CheckFlagRange(const char* flag, int64_t value, int64_t least, int64_t most);

struct FlaggedTool {
  const char* name;
  const char* source_folder;  // only flags defined below it are listed by --help
  std::string before_flags;   // of the text of --help
  std::string after_flags;
};

// Ends the process with the tool's name, the message and exit code 1.
[[noreturn]] void RefuseCommandLine(const FlaggedTool& tool, const std::string& message);

// Sets the flags. Ends the process after --help, and with exit code 1 on an unknown flag, a bad value, or an
// argument that is no flag.
void ParseFlags(const FlaggedTool& tool, int argc, char** argv);

}  // namespace pmlsm
