// CountingHooks: what libpmem is asked for by the thread that made it, libpmemobj's calls included; counted as a Store
// counts.
//
// Thread safety: one exists at a time; calls of other threads are not counted.
#pragma once

#include <cstdint>
#include <thread>

#include "pmem/counters.h"
#include "pmem/hooks/persist_hooks.h"

namespace pmlsm {

class CountingHooks : public PersistHooks {
 public:
  CountingHooks() { SetPersistHooks(this); }
  ~CountingHooks() override { SetPersistHooks(nullptr); }

  void Flush(const void* from, size_t bytes) override {
    if (bytes == 0 || std::this_thread::get_id() != thread_) return;
    const uintptr_t first = reinterpret_cast<uintptr_t>(from);
    const uintptr_t last = first + bytes - 1;
    lines_ += last / kCacheLineBytes - first / kCacheLineBytes + 1;
    blocks_ += last / kMediaBlockBytes - first / kMediaBlockBytes + 1;
  }
  void Fence() override {
    if (std::this_thread::get_id() == thread_) ++fences_;
  }

  uint64_t lines() const { return lines_; }
  uint64_t blocks() const { return blocks_; }
  uint64_t fences() const { return fences_; }

 private:
  const std::thread::id thread_ = std::this_thread::get_id();
  uint64_t lines_ = 0;
  uint64_t blocks_ = 0;
  uint64_t fences_ = 0;
};

}  // namespace pmlsm
