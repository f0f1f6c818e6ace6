#include <cstdio>

#include "tools/cli/commands.h"

namespace pmlsm::cli {
namespace {

void PrintProperty(const std::string& name, const std::string& value) {
  const bool one_line = value.find('\n') == std::string::npos;
  const bool ends_line = !value.empty() && value.back() == '\n';
  printf("%s:%s%s%s", name.c_str(), one_line ? " " : "\n", value.c_str(), ends_line ? "" : "\n");
}

}  // namespace

int Stats(DB* db, const StatsArguments& arguments) {
  std::string value;
  if (arguments.properties.empty()) {
    for (const char* name : {"pmlsm.medium", "pmlsm.stats", "pmlsm.levelstats", "pmlsm.pmem-counters"})
      if (db->GetProperty(name, &value)) PrintProperty(name, value);
    return kExitOk;
  }
  for (const std::string& name : arguments.properties) {
    if (!db->GetProperty(name, &value))
      return Failed("stats", Status::InvalidArgument("no such property", name));
    PrintProperty(name, value);
  }
  return kExitOk;
}

}  // namespace pmlsm::cli
