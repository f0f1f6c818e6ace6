// CountingHooks: what libpmem is asked for by the thread that made it, libpmemobj's calls included.
//
// Thread safety: one exists at a time; calls of other threads are not counted.
#pragma once

#include <cstdint>
#include <thread>

#include "test/crash/hooks.h"
#include "test/crash/lines.h"

namespace pmlsm::crash {

class CountingHooks : public Hooks {
 public:
  CountingHooks() { SetHooks(this); }
  ~CountingHooks() override { SetHooks(nullptr); }

  void Flush(const void* from, size_t bytes) override {
    if (bytes == 0 || std::this_thread::get_id() != thread_) return;
    const uintptr_t first = reinterpret_cast<uintptr_t>(from) / kLineBytes;
    lines_ += (reinterpret_cast<uintptr_t>(from) + bytes - 1) / kLineBytes - first + 1;
  }
  void Fence() override {
    if (std::this_thread::get_id() == thread_) ++fences_;
  }

  uint64_t lines() const { return lines_; }
  uint64_t fences() const { return fences_; }

 private:
  const std::thread::id thread_ = std::this_thread::get_id();
  uint64_t lines_ = 0;
  uint64_t fences_ = 0;
};

}  // namespace pmlsm::crash
