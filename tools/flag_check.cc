#include "tools/flag_check.h"

#include <gflags/gflags.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace pmlsm {
namespace {

// gflags' own --help would list its own flags too, and end with an error.
[[noreturn]] void PrintHelpAndExit(const FlaggedTool& tool) {
  printf("%s\n\nFlags:\n", tool.before_flags.c_str());
  std::vector<google::CommandLineFlagInfo> flags;
  google::GetAllFlags(&flags);
  for (const google::CommandLineFlagInfo& flag : flags) {
    if (flag.filename.find(tool.source_folder) == std::string::npos) continue;
    printf("  --%s (%s; default: %s)\n      %s\n", flag.name.c_str(), flag.type.c_str(),
           flag.type == "string" ? ('"' + flag.default_value + '"').c_str() : flag.default_value.c_str(),
           flag.description.c_str());
  }
  printf("%s", tool.after_flags.c_str());
  exit(0);
}

}  // namespace

bool RefuseFlag(const char* flag, const std::string& value, const std::string& allowed) {
  fprintf(stderr, "--%s=%s: must be %s\n", flag, value.c_str(), allowed.c_str());
  return false;
}

bool CheckFlagRange(const char* flag, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return true;
  return RefuseFlag(flag, std::to_string(value), std::to_string(least) + " to " + std::to_string(most));
}

void RefuseCommandLine(const FlaggedTool& tool, const std::string& message) {
  fprintf(stderr, "%s: %s\n", tool.name, message.c_str());
  exit(1);
}

void ParseFlags(const FlaggedTool& tool, int argc, char** argv) {
  google::ParseCommandLineNonHelpFlags(&argc, &argv, true);
  std::string help;
  if (google::GetCommandLineOption("help", &help) && help == "true") PrintHelpAndExit(tool);
  google::HandleCommandLineHelpFlags();
  if (argc > 1) RefuseCommandLine(tool, std::string("'") + argv[1] + "' is not a flag; --help lists them");
}

}  // namespace pmlsm
