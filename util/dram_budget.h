// DramBudget: bytes of DRAM that many owners share, up to a limit. Who is refused goes without.
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace pmlsm {

class DramBudget {
 public:
  explicit DramBudget(uint64_t limit) : limit_(limit) {}
  DramBudget(const DramBudget&) = delete;
  DramBudget& operator=(const DramBudget&) = delete;

  // False, and nothing is taken, if that would be more than the limit.
  bool Take(uint64_t bytes) {
    uint64_t used = used_.load(std::memory_order_relaxed);
    do {
      const uint64_t limit = limit_.load(std::memory_order_relaxed);
      if (used > limit || bytes > limit - used) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  void Return(uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  // What was taken stays taken.
  void SetLimit(uint64_t limit) { limit_.store(limit, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> used_{0};
  std::atomic<uint64_t> limit_;
};

}  // namespace pmlsm
