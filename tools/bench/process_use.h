// What this process has used so far: CPU time, and memory that is its own.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>

namespace pmlsm::bench {

// Of all its threads.
double ProcessCpuSeconds();
// Resident memory that belongs to no file: not the maps of pools and tables. 0 if the kernel does not say.
uint64_t AnonymousBytes();

}  // namespace pmlsm::bench
