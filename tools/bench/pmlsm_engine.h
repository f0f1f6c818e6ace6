// The adapter of pmlsm itself; its own flags (--failure_atomicity, --merge_order, ...) are in the .cc.
#pragma once

#include <memory>

#include "tools/bench/engine.h"

namespace pmlsm::bench {

std::unique_ptr<Engine> NewPmlsmEngine(const EngineOptions& options);

}  // namespace pmlsm::bench
