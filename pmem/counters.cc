#include "pmem/counters.h"

namespace pmlsm {

PersistCounts& PersistCounts::operator+=(const PersistCounts& other) {
  bytes_modified += other.bytes_modified;
  lines_flushed += other.lines_flushed;
  blocks_touched += other.blocks_touched;
  fences += other.fences;
  return *this;
}

PersistCounts& PersistCounts::operator-=(const PersistCounts& other) {
  bytes_modified -= other.bytes_modified;
  lines_flushed -= other.lines_flushed;
  blocks_touched -= other.blocks_touched;
  fences -= other.fences;
  return *this;
}

PersistCounts Read(const PersistCounters& counters) {
  PersistCounts counts;
  counts.bytes_modified = counters.bytes_modified.load(std::memory_order_relaxed);
  counts.lines_flushed = counters.lines_flushed.load(std::memory_order_relaxed);
  counts.blocks_touched = counters.blocks_touched.load(std::memory_order_relaxed);
  counts.fences = counters.fences.load(std::memory_order_relaxed);
  return counts;
}

}  // namespace pmlsm
