// Reads and writes in one thread, and the operations that concern the whole DB.
#include <algorithm>

#include "tools/bench/work_limit.h"
#include "tools/bench/workloads.h"

namespace pmlsm::bench {
namespace {

void GetOne(Thread* thread, uint64_t number) {
  Slice value;
  const Status s = thread->session->Get(thread->Key(number), &value);
  ++thread->stats.reads;
  if (s.ok()) {
    ++thread->stats.found;
    thread->stats.bytes += thread->config.key_bytes + value.size();
    thread->CheckValue(number, value);
  } else if (!s.IsNotFound()) {
    thread->Fail(s.ToString());
  }
}

void PutOne(Thread* thread, uint64_t number) {
  thread->Check(thread->session->Put(thread->Key(number), thread->values.Next(number)));
  ++thread->stats.writes;
  thread->stats.bytes += thread->config.key_bytes + thread->config.value_bytes;
}

}  // namespace

void ReadRandomWriteRandom(Thread* thread) {
  const Config& config = thread->config;
  WorkLimit limit(std::max(config.reads, config.writes), config.duration_seconds);
  for (uint64_t i = 0; !limit.Done(); ++i) {
    const uint64_t number = thread->DrawWritten();
    if (i % 100 < config.read_percent)
      GetOne(thread, number);
    else
      PutOne(thread, number);
    thread->stats.FinishedOps(1);
  }
}

void UpdateRandom(Thread* thread) {
  const Config& config = thread->config;
  WorkLimit limit(std::max(config.reads, config.writes), config.duration_seconds);
  while (!limit.Done()) {
    const uint64_t number = thread->DrawWritten();
    GetOne(thread, number);
    PutOne(thread, number);
    thread->stats.FinishedOps(1);
  }
}

void CompactAll(Thread* thread) {
  thread->Check(thread->shared->engine->Compact());
  thread->stats.FinishedOps(1);
}

void FlushMemtable(Thread* thread) {
  thread->Check(thread->shared->engine->Flush());
  thread->stats.FinishedOps(1);
}

void WaitForCompaction(Thread* thread) {
  thread->Check(thread->shared->engine->WaitForCompaction());
  thread->stats.FinishedOps(1);
}

}  // namespace pmlsm::bench
