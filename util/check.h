// CHECK: a condition without which data would be harmed; always on, ends the process with its text.
// DCHECK: a condition worth testing in debug builds only. Neither is for input from users or from media.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace pmlsm {

[[noreturn]] inline void CheckFailed(const char* condition, const char* file, int line) {
  fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  abort();
}

}  // namespace pmlsm

#define CHECK(condition) \
  (__builtin_expect(!(condition), 0) ? ::pmlsm::CheckFailed(#condition, __FILE__, __LINE__) : void())

#ifdef NDEBUG
#define DCHECK(condition) static_cast<void>(sizeof(!(condition)))
#else
#define DCHECK(condition) CHECK(condition)
#endif
