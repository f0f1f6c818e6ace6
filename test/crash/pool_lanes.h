// Libpmemobj looks through all lanes of a pool, 1024 of them, each time it opens it, which is most of what
// opening an image costs. How many there are, the pool's descriptor says: with fewer, crash tests see more
// power failures in the same time. The lanes that are left, and the code that recovers them, are the same.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <string>

namespace pmlsm::crash {

// Libpmemobj uses the first `lanes` of any pool, in this process and those it forks from now on.
void LimitLanes(uint64_t lanes);

// Of the pool whose first part is `part`, closed cleanly. Under a simulator, this is durable on return.
// Libpmemobj believes it when it opens the pool, but not when it chooses a lane: LimitLanes goes before.
void SetLanes(const std::string& part, uint64_t lanes);

}  // namespace pmlsm::crash
