// The adapter of LMDB.
#pragma once

#include <memory>

#include "tools/bench/engine.h"

namespace pmlsm::bench {

std::unique_ptr<Engine> NewLmdbEngine(const EngineOptions& options);

}  // namespace pmlsm::bench
