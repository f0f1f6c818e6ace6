// Hooks: what stands between the program and libpmem, mmap and the file system while a power failure is
// simulated (doc/CRASH.md). The functions themselves are in pmem/hooks/libpmem_hooked.cc and libc_hooked.cc;
// linked into an executable, they win over the shared libraries', for libpmemobj as for our own code.
//
// Without hooks in force a persist is nothing and a file operation is the real one.
//
// Thread safety: Set before threads start; the hooks themselves are called from any thread.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "pmem/hooks/persist_hooks.h"

namespace pmlsm::crash {

class Hooks : public PersistHooks {
 public:
  // An operation that changes names, sizes or modes is about to happen.
  virtual void BeforeFileOperation(const char* name) {}

  virtual void* Map(void* address, size_t bytes, int protection, int flags, int fd, off_t offset);
  virtual int Unmap(void* address, size_t bytes);
  virtual ssize_t ReadAt(int fd, void* to, size_t bytes, off_t offset);
  virtual int Lock(int fd, int operation);
};

void SetHooks(Hooks* hooks);
// Null if there are none, or in a thread where they are suspended.
Hooks* CurrentHooks();

// The calling thread reaches the real functions meanwhile.
using HooksSuspended = PersistHooksSuspended;

// The kernel's own, whatever is in force.
void* RealMap(void* address, size_t bytes, int protection, int flags, int fd, off_t offset);
int RealUnmap(void* address, size_t bytes);
ssize_t RealReadAt(int fd, void* to, size_t bytes, off_t offset);
int RealLock(int fd, int operation);

}  // namespace pmlsm::crash
