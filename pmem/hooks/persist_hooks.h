// PersistHooks: what stands in for libpmem in an executable that links this. The functions of libpmem_hooked.cc win over
// the shared library's, for libpmemobj as for our own code: so its flushes and fences are seen, too.
//
// Nothing is flushed for real. Without hooks in force a persist is nothing.
//
// Thread safety: Set before threads start; the hooks themselves are called from any thread.
#pragma once

#include <cstddef>

namespace pmlsm {

class PersistHooks {
 public:
  virtual ~PersistHooks() = default;

  // The lines that [from, from + bytes) touches are on their way to the medium.
  virtual void Flush(const void* from, size_t bytes) {}
  // The calling thread's flushed lines have arrived when this returns.
  virtual void Fence() {}
};

void SetPersistHooks(PersistHooks* hooks);
// Null if there are none, or in a thread where they are suspended.
PersistHooks* CurrentPersistHooks();

// The calling thread does without them meanwhile.
class PersistHooksSuspended {
 public:
  PersistHooksSuspended();
  ~PersistHooksSuspended();
  PersistHooksSuspended(const PersistHooksSuspended&) = delete;
  PersistHooksSuspended& operator=(const PersistHooksSuspended&) = delete;

  static bool Here();
};

}  // namespace pmlsm
