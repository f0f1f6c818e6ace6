// ScanFeedback: what iterators tell writers. A scan that has to step over many deleted or overwritten entries, as at
// the head of a queue, asks for the memtable to be flushed: the flush drops them. (RocksDB has this as
// memtable_op_scan_flush_trigger.)
//
// Thread safety: safe from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pmlsm {

class ScanFeedback {
 public:
  // Entries that one move of an iterator may step over before it asks for a flush, and that a memtable must hold
  // for one: what is fewer costs less than a flush.
  static constexpr uint64_t kSkipsMax = 1000;

  // Of one move of an iterator.
  void NoteMove(uint64_t skipped) {
    if (skipped > kSkipsMax) wants_flush_.store(true, std::memory_order_relaxed);
  }
  // Of an iterator's whole life, so that iterators share no counter while they move.
  void NoteIterator(uint64_t skipped) { skipped_.fetch_add(skipped, std::memory_order_relaxed); }

  // Asked by writers, and then, `entries`: of the active memtable. Forgets the wish if it cannot help.
  bool HasWish() const { return wants_flush_.load(std::memory_order_relaxed); }
  bool WantsFlush(size_t entries) {
    if (!HasWish()) return false;
    wants_flush_.store(false, std::memory_order_relaxed);
    return entries >= kSkipsMax;
  }

  uint64_t skipped() const { return skipped_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> skipped_{0};
  std::atomic<bool> wants_flush_{false};
};

}  // namespace pmlsm
