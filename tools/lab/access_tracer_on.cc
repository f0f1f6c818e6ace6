// The calls that a compiler inserts under -fsanitize=thread, answered by a note of the line. They are part of its
// interface to the race detector's runtime, which is not linked; those missing here would be missed by the linker.
#include <cstring>
#include <optional>
#include <vector>

#include "pmem/counters.h"
#include "pmem/hooks/counting_hooks.h"
#include "tools/lab/access_tracer.h"

namespace pmlsm::lab {
namespace {

constexpr uint64_t kLinesABlock = kMediaBlockBytes / kCacheLineBytes;

struct Memory {
  uintptr_t begin = 0;
  uintptr_t bytes = 0;
  std::vector<uint8_t> seen;    // a byte a line
  std::vector<uint64_t> lines;  // that are seen

  void NoteRead(uintptr_t address, size_t size) {
    const uintptr_t offset = address - begin;
    if (offset >= bytes) return;
    const uint64_t last = (offset + size - 1) / kCacheLineBytes;
    for (uint64_t line = offset / kCacheLineBytes; line <= last && line < seen.size(); ++line) {
      if (seen[line] != 0) continue;
      seen[line] = 1;
      lines.push_back(line);
    }
  }
  void Forget() {
    for (const uint64_t line : lines) seen[line] = 0;
    lines.clear();
  }
};

bool on = false;
Memory memories[2];  // by Watched
std::optional<CountingHooks> persisted;

void NoteRead(const void* address, size_t bytes) {
  if (!on || bytes == 0) return;
  for (Memory& memory : memories) memory.NoteRead(reinterpret_cast<uintptr_t>(address), bytes);
}

}  // namespace

bool AccessTracer::Available() { return true; }

void AccessTracer::Watch(Watched watched, const void* memory, size_t bytes) {
  Memory& m = memories[static_cast<int>(watched)];
  m.begin = reinterpret_cast<uintptr_t>(memory);
  m.bytes = bytes;
  m.lines.clear();
  m.seen.assign((bytes + kCacheLineBytes - 1) / kCacheLineBytes, 0);
}

void AccessTracer::Start() {
  for (Memory& memory : memories) memory.Forget();
  persisted.emplace();
  on = true;
}

void AccessTracer::Stop() {
  on = false;
  SetPersistHooks(nullptr);
}

LinesRead AccessTracer::Seen(Watched watched) {
  const Memory& memory = memories[static_cast<int>(watched)];
  LinesRead read;
  read.lines = memory.lines.size();
  // A block counts with its lowest line that is seen.
  for (const uint64_t line : memory.lines) {
    bool lowest = true;
    for (uint64_t other = line / kLinesABlock * kLinesABlock; other < line; ++other) {
      lowest = lowest && memory.seen[other] == 0;
    }
    read.blocks += lowest;
  }
  return read;
}

PersistCounts AccessTracer::Persisted() {
  PersistCounts counts;
  counts.lines_flushed = persisted->lines();
  counts.blocks_touched = persisted->blocks();
  counts.fences = persisted->fences();
  return counts;
}

}  // namespace pmlsm::lab

using pmlsm::lab::NoteRead;

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void** address) { NoteRead(address, sizeof(void*)); }

#define PMLSM_TRACED_WIDTH(width)                                                \
  void __tsan_read##width(void* address) { NoteRead(address, width); }           \
  void __tsan_unaligned_read##width(void* address) { NoteRead(address, width); } \
  void __tsan_volatile_read##width(void* address) { NoteRead(address, width); }  \
  void __tsan_write##width(void*) {}                                             \
  void __tsan_unaligned_write##width(void*) {}                                   \
  void __tsan_volatile_write##width(void*) {}
PMLSM_TRACED_WIDTH(1)
PMLSM_TRACED_WIDTH(2)
PMLSM_TRACED_WIDTH(4)
PMLSM_TRACED_WIDTH(8)
PMLSM_TRACED_WIDTH(16)
#undef PMLSM_TRACED_WIDTH

void __tsan_read_range(void* address, size_t bytes) { NoteRead(address, bytes); }
void __tsan_write_range(void*, size_t) {}

void __tsan_atomic64_store(volatile uint64_t* address, uint64_t value, int) {
  __atomic_store_n(address, value, __ATOMIC_SEQ_CST);
}

// Copies that the compiler does not turn into loads: the linker's --wrap sends them here.
void* __real_memcpy(void* to, const void* from, size_t bytes);
void* __wrap_memcpy(void* to, const void* from, size_t bytes) {
  NoteRead(from, bytes);
  return __real_memcpy(to, from, bytes);
}
void* __real_memmove(void* to, const void* from, size_t bytes);
void* __wrap_memmove(void* to, const void* from, size_t bytes) {
  NoteRead(from, bytes);
  return __real_memmove(to, from, bytes);
}
}
