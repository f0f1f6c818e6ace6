// The floor: the memory accesses that any engine has at least, and nothing else. No index, no checksum, no lock.
//
//   write  one record streamed to a log in PMem and fenced
//   read   one cache miss, of a place in the data that depends on what the last one found there
//   scan   one memcpy an entry, one place after the other
//
// The data are as many bytes as the run's entries, in PMem; reads get those instead of what was written. What an
// engine reaches of the floor's figures can be compared between machines, its own figures cannot.
#pragma once

#include <memory>

#include "tools/bench/engine.h"

namespace pmlsm::bench {

std::unique_ptr<Engine> NewFloorEngine(const EngineOptions& options);

}  // namespace pmlsm::bench
