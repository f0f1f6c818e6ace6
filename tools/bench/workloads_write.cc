// Fills, overwrites and deletes.
#include <algorithm>
#include <memory>

#include "tools/bench/append_floor.h"
#include "tools/bench/work_limit.h"
#include "tools/bench/workloads.h"

namespace pmlsm::bench {
namespace {

constexpr uint64_t kFillBatchEntries = 1000;

// Puts keys that next(i) numbers, i = 0, 1, ..., alone or in batches.
template <typename NextKey>
void PutAll(Thread* thread, uint64_t batch_size, WorkLimit limit, NextKey next) {
  Session* const session = thread->session.get();
  ThreadStats& stats = thread->stats;
  const uint64_t entry_bytes = thread->config.key_bytes + thread->config.value_bytes;
  uint64_t i = 0;
  while (!limit.Done(batch_size)) {
    if (batch_size == 1) {
      const uint64_t number = next(i++);
      thread->Check(session->Put(thread->Key(number), thread->values.Next(number)));
    } else {
      for (uint64_t j = 0; j < batch_size; ++j) {
        const uint64_t number = next(i++);
        thread->Check(session->BatchPut(thread->Key(number), thread->values.Next(number)));
      }
      thread->Check(session->BatchWrite());
    }
    stats.writes += batch_size;
    stats.bytes += batch_size * entry_bytes;
    stats.FinishedOps(batch_size);
  }
}

template <typename NextKey>
void DeleteAll(Thread* thread, WorkLimit limit, NextKey next) {
  Session* const session = thread->session.get();
  const uint64_t batch_size = thread->config.batch_size;
  uint64_t i = 0;
  while (!limit.Done(batch_size)) {
    if (batch_size == 1) {
      thread->Check(session->Delete(thread->Key(next(i++))));
    } else {
      for (uint64_t j = 0; j < batch_size; ++j) thread->Check(session->BatchDelete(thread->Key(next(i++))));
      thread->Check(session->BatchWrite());
    }
    thread->stats.writes += batch_size;
    thread->stats.FinishedOps(batch_size);
  }
}

}  // namespace

void FillSequential(Thread* thread) {
  PutAll(thread, thread->config.batch_size, WorkLimit(thread->config.writes, 0),
         [](uint64_t i) { return i; });
}

void FillBatch(Thread* thread) {
  PutAll(thread, kFillBatchEntries, WorkLimit(thread->config.writes, 0), [](uint64_t i) { return i; });
}

void FillRandom(Thread* thread) {
  const Config& config = thread->config;
  const WorkLimit limit(config.writes, config.duration_seconds);
  if (config.random_with_replacement) {
    PutAll(thread, config.batch_size, limit, [thread](uint64_t) { return thread->DrawAny(); });
    return;
  }
  // Several threads go through the same keys in the same order, from starting points spread over it; if they
  // share the work, each ends where the next one started.
  const uint64_t writes = config.writes * (config.divide_work ? static_cast<uint64_t>(thread->count) : 1);
  const uint64_t keys =
      config.duration_seconds > 0 ? config.num : std::clamp<uint64_t>(writes, 1, config.num);
  const uint64_t first = keys / static_cast<uint64_t>(thread->count) * static_cast<uint64_t>(thread->index);
  PutAll(thread, config.batch_size, limit,
         [thread, keys, first](uint64_t i) { return thread->shared->fill_order((first + i) % keys); });
}

void Overwrite(Thread* thread) {
  const Config& config = thread->config;
  PutAll(thread, config.batch_size, WorkLimit(config.writes, config.duration_seconds),
         [thread](uint64_t) { return thread->DrawWritten(); });
}

void DeleteSequential(Thread* thread) {
  DeleteAll(thread, WorkLimit(thread->config.deletes, 0), [](uint64_t i) { return i; });
}

void DeleteRandom(Thread* thread) {
  const Config& config = thread->config;
  DeleteAll(thread, WorkLimit(config.deletes, config.duration_seconds),
            [thread](uint64_t) { return thread->DrawAny(); });
}

void AppendToFloor(Thread* thread) {
  const Config& config = thread->config;
  std::unique_ptr<AppendFloor> floor;
  thread->Check(
      AppendFloor::New(config.engine_options.path + ".floor-" + std::to_string(thread->index), &floor));
  thread->stats.Start();  // anew: the pool is not what is measured
  WorkLimit limit(config.writes, config.duration_seconds);
  while (!limit.Done()) {
    const uint64_t number = thread->DrawAny();
    thread->Check(floor->Append(thread->Key(number), thread->values.Next(number)));
    ++thread->stats.writes;
    thread->stats.bytes += config.key_bytes + config.value_bytes;
    thread->stats.FinishedOps(1);
  }
}

void WriteUntilStopped(Thread* thread) {
  Session* const session = thread->session.get();
  while (!thread->shared->stop.load(std::memory_order_relaxed)) {
    const uint64_t number = thread->DrawWritten();
    thread->Check(session->Put(thread->Key(number), thread->values.Next(number)));
    ++thread->stats.writes;
    thread->stats.FinishedOps(1);
  }
}

}  // namespace pmlsm::bench
