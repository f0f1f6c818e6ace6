// The list of engines.
#include "tools/bench/engine.h"
#include "tools/bench/pmlsm_engine.h"

namespace pmlsm::bench {
namespace {

struct Row {
  const char* name;
  std::unique_ptr<Engine> (*make)(const EngineOptions& options);
};
constexpr Row kEngines[] = {
    {"pmlsm", NewPmlsmEngine},
};

}  // namespace

std::unique_ptr<Engine> NewEngine(const std::string& name, const EngineOptions& options) {
  for (const Row& row : kEngines)
    if (name == row.name) return row.make(options);
  return nullptr;
}

std::string EngineNames() {
  std::string names;
  for (const Row& row : kEngines) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

}  // namespace pmlsm::bench
