// The C library's functions that map, read and lock a pool's files, and those that change the directory.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>

#include "test/crash/hooks.h"

#define LIBC_API extern "C" __attribute__((visibility("default")))

namespace {

using namespace pmlsm::crash;

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void Before(const char* name) {
  if (Hooks* hooks = CurrentHooks()) hooks->BeforeFileOperation(name);
}

}  // namespace

LIBC_API void* mmap(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) {
  Hooks* hooks = CurrentHooks();
  return hooks != nullptr ? hooks->Map(address, bytes, protection, flags, fd, offset)
                          : RealMap(address, bytes, protection, flags, fd, offset);
}
LIBC_API void* mmap64(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) {
  return mmap(address, bytes, protection, flags, fd, offset);
}
LIBC_API int munmap(void* address, size_t bytes) {
  Hooks* hooks = CurrentHooks();
  return hooks != nullptr ? hooks->Unmap(address, bytes) : RealUnmap(address, bytes);
}
LIBC_API ssize_t pread(int fd, void* to, size_t bytes, off_t offset) {
  Hooks* hooks = CurrentHooks();
  return hooks != nullptr ? hooks->ReadAt(fd, to, bytes, offset) : RealReadAt(fd, to, bytes, offset);
}
LIBC_API ssize_t pread64(int fd, void* to, size_t bytes, off_t offset) {
  return pread(fd, to, bytes, offset);
}
LIBC_API int flock(int fd, int operation) {
  Hooks* hooks = CurrentHooks();
  return hooks != nullptr ? hooks->Lock(fd, operation) : RealLock(fd, operation);
}

LIBC_API int posix_fallocate(int fd, off_t offset, off_t bytes) {
  static auto* const real = Next<int(int, off_t, off_t)>("posix_fallocate");
  Before("posix_fallocate");
  return real(fd, offset, bytes);
}
LIBC_API int rename(const char* from, const char* to) noexcept {
  static auto* const real = Next<int(const char*, const char*)>("rename");
  Before("rename");
  return real(from, to);
}
LIBC_API int unlink(const char* path) noexcept {
  static auto* const real = Next<int(const char*)>("unlink");
  Before("unlink");
  return real(path);
}
LIBC_API int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const real = Next<int(const char*, mode_t)>("mkdir");
  Before("mkdir");
  return real(path, mode);
}
LIBC_API int chmod(const char* path, mode_t mode) noexcept {
  static auto* const real = Next<int(const char*, mode_t)>("chmod");
  Before("chmod");
  return real(path, mode);
}
LIBC_API int fchmod(int fd, mode_t mode) noexcept {
  static auto* const real = Next<int(int, mode_t)>("fchmod");
  Before("fchmod");
  return real(fd, mode);
}
LIBC_API int fsync(int fd) {
  static auto* const real = Next<int(int)>("fsync");
  Before("fsync");
  return real(fd);
}
