#include "tools/experiments/sampler.h"

#include <unistd.h>

#include <algorithm>

#include "tools/bench/clock.h"

namespace pmlsm::experiments {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// What overwrites the last-level cache; at most kMost, since a virtual machine may show a cache that it shares
// with many others.
uint64_t EvictorBytes() {
  constexpr uint64_t kLeast = 8 * kMiB;
  constexpr uint64_t kMost = 64 * kMiB;
  const int64_t cache_bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return std::clamp(cache_bytes > 0 ? 2 * static_cast<uint64_t>(cache_bytes) : kMost, kLeast, kMost);
}

PersistCost AverageCost(const PersistCounters& counters, uint64_t snapshot_bytes, uint64_t operations) {
  const PersistCounts counts = Read(counters);
  const double n = static_cast<double>(operations);
  PersistCost cost;
  cost.bytes_modified = static_cast<double>(counts.bytes_modified) / n;
  cost.line_bytes = static_cast<double>(counts.lines_flushed * kCacheLineBytes) / n;
  cost.block_bytes = static_cast<double>(counts.blocks_touched * kMediaBlockBytes) / n;
  cost.fences = static_cast<double>(counts.fences) / n;
  cost.snapshot_bytes = static_cast<double>(snapshot_bytes) / n;
  return cost;
}

}  // namespace

Sampler::Sampler(Bed* bed, bool evict_caches) : bed_(bed), evictor_(evict_caches ? EvictorBytes() : 0) {}

uint64_t Sampler::OperationsPerSample(uint64_t node_bytes) {
  constexpr uint64_t kSampleBytes = 64 << 10;
  return std::max<uint64_t>(1, kSampleBytes / node_bytes);
}

void Sampler::EvictCaches() {
  for (size_t i = 0; i < evictor_.size(); i += kCacheLineBytes) {
    volatile char* const byte = &evictor_[i];
    *byte = static_cast<char>(*byte + 1);
  }
}

Status Sampler::Sample(uint64_t operations,
                       const std::function<Status(uint64_t, PersistCounters*, Written*)>& operation,
                       const std::function<const Records&(uint64_t)>& expected, bool record, Row* row) {
  EvictCaches();
  PersistCounters counters;
  const uint64_t snapshot_bytes_before = bed_->snapshot_bytes();
  std::vector<Written> written(operations);
  const uint64_t begin = bench::TickClock::Now();
  for (uint64_t i = 0; i < operations; ++i) {
    Status s = operation(i, &counters, &written[i]);
    if (!s.ok()) return s;
  }
  const uint64_t ticks = bench::TickClock::Now() - begin;
  if (record) {
    row->nanos.push_back(static_cast<double>(bench::TickClock::Nanos(ticks)) /
                         static_cast<double>(operations));
    row->cost = AverageCost(counters, bed_->snapshot_bytes() - snapshot_bytes_before, operations);
  }
  for (uint64_t i = 0; i < operations; ++i) {
    Status s = bed_->CheckWritten(written[i].tables, written[i].published, expected(i));
    if (!s.ok()) return s;
    for (const TableRef& table : written[i].tables) table->MarkObsolete();
  }
  return Status::OK();
}

}  // namespace pmlsm::experiments
