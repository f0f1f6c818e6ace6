// The benchmarks: their names, what each needs, and what a thread of one does.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "tools/bench/config.h"
#include "tools/bench/engine.h"
#include "tools/bench/keys.h"
#include "tools/bench/thread_stats.h"
#include "tools/bench/values.h"
#include "util/random.h"

namespace pmlsm::bench {

// What all threads of all benchmarks of a run share. Only the runner changes it, between benchmarks, but for
// `stop`.
struct Shared {
  Shared(const Config& c, Engine* e)
      : config(c), engine(e), fill_order(c.num, c.seed), written(WrittenKeys::AnyOf(c.num)) {}

  const Config& config;
  Engine* const engine;
  const Permutation fill_order;  // fillrandom's
  WrittenKeys written;
  // The DB holds what this run wrote and nothing else, so that every value read can be checked.
  bool values_known = false;
  // Tells the background writer that the readers are done.
  std::atomic<bool> stop{false};
};

// One thread of one benchmark.
struct Thread {
  Thread(Shared* shared, const std::string& benchmark, int index, int count);

  // Makes the key of that number.
  Slice Key(uint64_t number) { return key.Set(number); }
  uint64_t DrawWritten() { return shared->written.Draw(&random); }
  uint64_t DrawAny() { return random.Uniform(config.num); }
  // Ends the process if s is an error, with the benchmark's name.
  void Check(const Status& s) const {
    if (!s.ok()) Fail(s.ToString());
  }
  // Ends the process if the value cannot be that key's.
  void CheckValue(uint64_t number, const Slice& value) const {
    if (shared->values_known && !ValueGenerator::BelongsTo(value, number, config.value_bytes))
      Fail("wrong value for key " + std::to_string(number));
  }
  [[noreturn]] void Fail(const std::string& message) const;

  Shared* const shared;
  const Config& config;
  const std::string benchmark;
  const int index;  // 0 to count - 1
  const int count;
  Random random;
  KeyBuffer key;
  ValueGenerator values;
  std::unique_ptr<Session> session;
  ThreadStats stats;
};

struct Workload {
  enum class Kind : uint8_t {
    kThreads,           // --threads of them
    kThreadsAndWriter,  // and one more that overwrites until they are done
    kOnce,              // one thread, one operation
    kProperty,          // prints the engine's property of this name
    kOpen,              // reports how long the DB took to open
  };
  enum class Fill : uint8_t { kNone, kSequential, kRandom };
  // What the line says after the figures.
  enum class Summary : uint8_t { kNone, kFound, kReadsAndWrites, kUpdates };

  const char* name;
  const char* help;
  Kind kind;
  void (*run)(Thread* thread);
  const char* operation = "operation";
  Summary summary = Summary::kNone;
  // Starts from an empty DB and writes these keys.
  Fill fill = Fill::kNone;
  // Writes, but not into the DB: later writes are compared with it.
  bool is_floor = false;

  bool IsWrite() const { return operation == std::string("write"); }
};

// Null if there is no benchmark of that name.
const Workload* FindWorkload(const std::string& name);
// A line for each.
std::string WorkloadHelp();

// What threads run. Writes (workloads_write.cc):
void FillSequential(Thread* thread);
void FillBatch(Thread* thread);
void FillRandom(Thread* thread);
void Overwrite(Thread* thread);
void DeleteSequential(Thread* thread);
void DeleteRandom(Thread* thread);
void AppendToFloor(Thread* thread);
void WriteUntilStopped(Thread* thread);  // the writer beside the readers
// Reads (workloads_read.cc):
void ReadRandom(Thread* thread);
void ReadMissing(Thread* thread);
void ReadSequential(Thread* thread);
void ReadReverse(Thread* thread);
void SeekRandom(Thread* thread);
void SeekOrdered(Thread* thread);
// Both, and the rest (workloads_mixed.cc):
void ReadRandomWriteRandom(Thread* thread);
void UpdateRandom(Thread* thread);
void CompactAll(Thread* thread);
void FlushMemtable(Thread* thread);
void WaitForCompaction(Thread* thread);

}  // namespace pmlsm::bench
