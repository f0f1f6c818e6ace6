// Prefetch: starts loading cache lines that will be read soon.
//
// Instructions of their own, since GCC takes __builtin_prefetch for free of effect: where all that an inlined
// function does is to prefetch, it may drop the call, and does (seen in Version::Get with GCC 12).
#pragma once

#include <cstddef>

namespace pmlsm {

// Any address will do, an invalid one as well.
inline void PrefetchLine(const void* at) {
#if defined(__x86_64__)
  asm volatile("prefetcht0 %0" : : "m"(*static_cast<const char*>(at)));
#else
  __builtin_prefetch(at);
#endif
}

// The lines of `bytes` from the start of a line.
inline void PrefetchLines(const char* from, size_t bytes) {
  constexpr size_t kLine = 64;
  for (size_t at = 0; at < bytes; at += kLine) PrefetchLine(from + at);
}

}  // namespace pmlsm
