// The adapter of LevelDB.
#pragma once

#include <memory>

#include "tools/bench/engine.h"

namespace pmlsm::bench {

std::unique_ptr<Engine> NewLeveldbEngine(const EngineOptions& options);

}  // namespace pmlsm::bench
