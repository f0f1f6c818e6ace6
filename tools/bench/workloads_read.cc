// Point reads, scans and seeks.
#include <algorithm>

#include "tools/bench/work_limit.h"
#include "tools/bench/workloads.h"

namespace pmlsm::bench {
namespace {

// Reads the keys that key(i) gives, which are those of the numbers that it draws.
void Get(Thread* thread, const Slice& key, uint64_t number) {
  ThreadStats& stats = thread->stats;
  Slice value;
  const Status s = thread->session->Get(key, &value);
  ++stats.reads;
  if (s.ok()) {
    ++stats.found;
    stats.bytes += key.size() + value.size();
    thread->CheckValue(number, value);
  } else if (!s.IsNotFound()) {
    thread->Fail(s.ToString());
  }
  stats.FinishedOps(1);
}

void CountEntry(Thread* thread, const Iterator& it) {
  const Slice key = it.key(), value = it.value();
  thread->CheckValue(KeyBuffer::NumberOf(key), value);
  thread->stats.bytes += key.size() + value.size();
}

// To the end of the range, or of the work. An entry takes less time than a time stamp.
template <typename Move>
void Scan(Thread* thread, const Iterator* it, Move move) {
  constexpr uint64_t kEntriesPerTimeStamp = 64;
  WorkLimit limit(thread->config.scans, 0);
  uint64_t untimed = 0;
  for (; it->Valid() && !limit.Done(); move()) {
    CountEntry(thread, *it);
    thread->stats.FinishedUntimed();
    if (++untimed < kEntriesPerTimeStamp) continue;
    thread->stats.FinishedEach(untimed);
    untimed = 0;
  }
  thread->stats.FinishedEach(untimed);
  thread->Check(it->status());
}

void SeekOnce(Thread* thread, Iterator* it, uint64_t number) {
  ThreadStats& stats = thread->stats;
  const Slice key = thread->Key(number);
  it->Seek(key);
  ++stats.reads;
  if (it->Valid() && it->key() == key) ++stats.found;
  for (uint64_t i = 0; i < thread->config.seek_nexts && it->Valid(); ++i) {
    CountEntry(thread, *it);
    it->Next();
  }
  if (!it->Valid()) thread->Check(it->status());
  stats.FinishedOps(1);
}

}  // namespace

void ReadRandom(Thread* thread) {
  WorkLimit limit(thread->config.reads, thread->config.duration_seconds);
  while (!limit.Done()) {
    const uint64_t number = thread->DrawWritten();
    Get(thread, thread->Key(number), number);
  }
}

// db_bench's way: a key one byte longer than those that are there, so that it lies between two of them.
void ReadMissing(Thread* thread) {
  KeyBuffer longer(std::max<size_t>(thread->config.key_bytes, 8) + 1);
  WorkLimit limit(thread->config.reads, thread->config.duration_seconds);
  while (!limit.Done()) {
    const uint64_t number = thread->DrawWritten();
    Get(thread, longer.Set(number), number);
  }
}

void ReadSequential(Thread* thread) {
  const std::unique_ptr<Iterator> it = thread->session->NewIterator();
  it->SeekToFirst();
  Scan(thread, it.get(), [&it] { it->Next(); });
}

void ReadReverse(Thread* thread) {
  const std::unique_ptr<Iterator> it = thread->session->NewIterator();
  it->SeekToLast();
  Scan(thread, it.get(), [&it] { it->Prev(); });
}

void SeekRandom(Thread* thread) {
  WorkLimit limit(thread->config.reads, thread->config.duration_seconds);
  while (!limit.Done()) {
    const std::unique_ptr<Iterator> it = thread->session->NewIterator();
    SeekOnce(thread, it.get(), thread->DrawWritten());
  }
}

void SeekOrdered(Thread* thread) {
  constexpr uint64_t kStepMax = 100;
  const std::unique_ptr<Iterator> it = thread->session->NewIterator();
  WorkLimit limit(thread->config.reads, thread->config.duration_seconds);
  uint64_t number = 0;
  while (!limit.Done()) {
    number = (number + thread->random.Uniform(kStepMax)) % thread->config.num;
    SeekOnce(thread, it.get(), number);
  }
}

}  // namespace pmlsm::bench
