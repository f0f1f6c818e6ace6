// libpmem's functions, all that store, flush or fence. Nothing is flushed for real (persist_hooks.h).
#include <cstring>

#include "pmem/hooks/persist_hooks.h"

#define PMEM_API extern "C" __attribute__((visibility("default")))

namespace {

using pmlsm::CurrentPersistHooks;
using pmlsm::PersistHooks;

// libpmem.h's flags, which this file does not include: it defines what that header declares.
constexpr unsigned kNoDrain = 1u << 0;
constexpr unsigned kNoFlush = 1u << 5;

void Flush(const void* from, size_t bytes) {
  if (PersistHooks* hooks = CurrentPersistHooks()) hooks->Flush(from, bytes);
}

void Fence() {
  if (PersistHooks* hooks = CurrentPersistHooks()) hooks->Fence();
}

int Persist(const void* from, size_t bytes) {
  Flush(from, bytes);
  Fence();
  return 0;
}

// Streamed or cached, the stores are on their way only once they were flushed; a non-temporal store counts as
// flushed by itself.
void* Stored(void* to, size_t bytes, unsigned flags) {
  if ((flags & kNoFlush) != 0) return to;
  Flush(to, bytes);
  if ((flags & kNoDrain) == 0) Fence();
  return to;
}

}  // namespace

PMEM_API int pmem_is_pmem(const void*, size_t) { return 1; }
PMEM_API int pmem_has_auto_flush(void) { return 0; }
PMEM_API int pmem_has_hw_drain(void) { return 0; }

PMEM_API void pmem_flush(const void* from, size_t bytes) { Flush(from, bytes); }
PMEM_API void pmem_deep_flush(const void* from, size_t bytes) { Flush(from, bytes); }
PMEM_API void pmem_drain(void) { Fence(); }
PMEM_API int pmem_deep_drain(const void*, size_t) {
  Fence();
  return 0;
}
PMEM_API void pmem_persist(const void* from, size_t bytes) { Persist(from, bytes); }
PMEM_API int pmem_deep_persist(const void* from, size_t bytes) { return Persist(from, bytes); }
PMEM_API int pmem_msync(const void* from, size_t bytes) { return Persist(from, bytes); }

PMEM_API void* pmem_memmove(void* to, const void* from, size_t bytes, unsigned flags) {
  return Stored(memmove(to, from, bytes), bytes, flags);
}
PMEM_API void* pmem_memcpy(void* to, const void* from, size_t bytes, unsigned flags) {
  return Stored(memmove(to, from, bytes), bytes, flags);
}
PMEM_API void* pmem_memset(void* to, int byte, size_t bytes, unsigned flags) {
  return Stored(memset(to, byte, bytes), bytes, flags);
}
PMEM_API void* pmem_memmove_nodrain(void* to, const void* from, size_t bytes) {
  return pmem_memmove(to, from, bytes, kNoDrain);
}
PMEM_API void* pmem_memcpy_nodrain(void* to, const void* from, size_t bytes) {
  return pmem_memcpy(to, from, bytes, kNoDrain);
}
PMEM_API void* pmem_memset_nodrain(void* to, int byte, size_t bytes) {
  return pmem_memset(to, byte, bytes, kNoDrain);
}
PMEM_API void* pmem_memmove_persist(void* to, const void* from, size_t bytes) {
  return pmem_memmove(to, from, bytes, 0);
}
PMEM_API void* pmem_memcpy_persist(void* to, const void* from, size_t bytes) {
  return pmem_memcpy(to, from, bytes, 0);
}
PMEM_API void* pmem_memset_persist(void* to, int byte, size_t bytes) {
  return pmem_memset(to, byte, bytes, 0);
}
