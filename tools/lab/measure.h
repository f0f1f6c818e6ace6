// What a row of an experiment is: how often an operation runs, on which instance, what is timed and what is counted.
// Times are Google Benchmark's. Counts are averages of an operation, and exact: of what was stored, from the Store's
// counters; of what was read, and of what libpmemobj stored, from the AccessTracer where there is one.
//
// An operation is a callable uint64_t(uint32_t instance) and returns 0, computed from what it has found: the choice of
// the next instance waits for it, so that a latency is measured and not how many operations the CPU overlaps.
//
// Thread safety: one thread.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>

#include "tools/lab/access_tracer.h"
#include "tools/lab/delays.h"
#include "tools/lab/instances.h"
#include "tools/lab/lab.h"

namespace pmlsm::lab {

// Collects what one row counts, and hands it to the benchmark.
class RowCounts {
 public:
  explicit RowCounts(Lab* lab);
  // Libpmemobj writes for the operations as well: lines and fences that only the AccessTracer sees.
  void UseLibpmemobj() { uses_libpmemobj_ = true; }
  // What each operation of the row is to wait for, behind it.
  double delay_nanos() const { return lab_->delay_nanos(); }
  // After an operation whose reads were traced.
  void AddTraced();
  // Averages of what has happened since the object was made, and the modelled times that follow (device_profile.h).
  void Report(benchmark::State* state);

 private:
  Lab* const lab_;
  const PersistCounts before_;
  LinesRead pmem_;
  LinesRead dram_;
  PersistCounts persisted_;
  bool uses_libpmemobj_ = false;
};

// `count` calls of a timed stretch, each of which is `operations_a_call` of the row's. visit(i) is the i-th instance.
template <typename Visit, typename Operation>
void RunOperations(uint64_t count, const Visit& visit, const Operation& operation, RowCounts* counts,
                   uint64_t operations_a_call = 1) {
  uint64_t zero = 0;
  if (AccessTracer::Available()) {
    for (uint64_t i = 0; i < count; ++i) {
      const uint32_t instance = visit(i);
      AccessTracer::Start();
      benchmark::DoNotOptimize(operation(instance));
      AccessTracer::Stop();
      counts->AddTraced();
    }
    return;
  }
  const double delay = counts->delay_nanos() * static_cast<double>(operations_a_call);
  for (uint64_t i = 0; i < count; ++i) {
    zero = operation(visit(i + zero));
    benchmark::DoNotOptimize(zero);
    if (delay != 0) Wait(delay);
  }
}

// Runs all operations of a row, at most `stretch` in a row; prepare() is called before each stretch but the first,
// untimed.
template <typename Prepare, typename Visit, typename Operation>
void RunStretches(benchmark::State* state, uint64_t stretch, const Prepare& prepare, const Visit& visit,
                  const Operation& operation, RowCounts* counts) {
  uint64_t left = static_cast<uint64_t>(state->max_iterations);
  for (bool first = true; left > 0; first = false) {
    const uint64_t now = std::min(stretch, left);
    state->KeepRunningBatch(static_cast<int64_t>(now));
    if (!first) {
      state->PauseTiming();
      prepare();
      state->ResumeTiming();
    }
    RunOperations(now, visit, operation, counts);
    left -= now;
  }
  // None is left, so this ends the timing.
  state->KeepRunningBatch(1);
}

// Operations that change their instance: each instance once, then all are made anew.
template <typename Persister, typename Operation>
void MeasureChanges(Lab* lab, Instances* instances, benchmark::State* state, const Operation& operation) {
  RowCounts counts(lab);
  if (std::is_base_of_v<primitives::LoggedPersister, Persister>) {
    counts.UseLibpmemobj();
  }
  RunStretches(
      state, instances->count(), [instances] { instances->Reset(); },
      [instances](uint64_t i) { return instances->InOrder(i); }, operation, &counts);
  counts.Report(state);
}

// Operations that only read: the instances go round, or there is one, whose lines stay in the caches.
template <typename Operation>
void MeasureReads(Lab* lab, bool cached, const Instances& instances, benchmark::State* state,
                  const Operation& operation) {
  RowCounts counts(lab);
  const auto nothing = [] {};
  if (cached) {
    RunStretches(
        state, UINT64_MAX, nothing, [&](uint64_t i) { return instances.InOrder(i & 0); }, operation, &counts);
  } else {
    RunStretches(
        state, instances.count(), nothing, [&](uint64_t i) { return instances.InOrder(i); }, operation,
        &counts);
  }
  counts.Report(state);
}

// "E1/layout:sorted/node:1024": what tells a row from the others of its experiment, for scripts to read.
std::string RowName(const char* experiment,
                    std::initializer_list<std::pair<const char*, std::string>> variables);

// Registers a row of so many operations.
void AddRow(Lab* lab, const std::string& name, uint64_t operations,
            const std::function<void(benchmark::State*)>& run);

}  // namespace pmlsm::lab
