#include "test/crash/hooks.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace pmlsm::crash {
namespace {

std::atomic<Hooks*> in_force{nullptr};

}  // namespace

void* Hooks::Map(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) {
  return RealMap(address, bytes, protection, flags, fd, offset);
}
int Hooks::Unmap(void* address, size_t bytes) { return RealUnmap(address, bytes); }
ssize_t Hooks::ReadAt(int fd, void* to, size_t bytes, off_t offset) {
  return RealReadAt(fd, to, bytes, offset);
}
int Hooks::Lock(int fd, int operation) { return RealLock(fd, operation); }

void SetHooks(Hooks* hooks) {
  in_force.store(hooks, std::memory_order_release);
  SetPersistHooks(hooks);
}

Hooks* CurrentHooks() { return HooksSuspended::Here() ? nullptr : in_force.load(std::memory_order_acquire); }

// System calls, not the library's functions: those are the hooked ones here.
void* RealMap(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) {
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, bytes, protection, flags, fd, offset));
}
int RealUnmap(void* address, size_t bytes) { return static_cast<int>(syscall(SYS_munmap, address, bytes)); }
ssize_t RealReadAt(int fd, void* to, size_t bytes, off_t offset) {
  return syscall(SYS_pread64, fd, to, bytes, offset);
}
int RealLock(int fd, int operation) { return static_cast<int>(syscall(SYS_flock, fd, operation)); }

}  // namespace pmlsm::crash
