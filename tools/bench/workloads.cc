#include "tools/bench/workloads.h"

#include <cstdio>
#include <cstdlib>

namespace pmlsm::bench {
namespace {

using Kind = Workload::Kind;
using Summary = Workload::Summary;
using Fill = Workload::Fill;

constexpr Workload kWorkloads[] = {
    {"fillseq", "write N entries in key order, into a fresh DB", Kind::kThreads, FillSequential, "write",
     Summary::kNone, Fill::kSequential},
    {"fillbatch", "the same in batches of 1000", Kind::kThreads, FillBatch, "write", Summary::kNone,
     Fill::kSequential},
    {"fillrandom", "write N entries in random order, into a fresh DB", Kind::kThreads, FillRandom, "write",
     Summary::kNone, Fill::kRandom},
    {"overwrite", "write N entries whose keys are drawn from the written ones", Kind::kThreads, Overwrite,
     "write"},
    {"appendfloor", "append N records to a bare log in PMem beside a busy thread; not in the DB",
     Kind::kThreads, AppendToFloor, "write", Summary::kNone, Fill::kNone, true},
    {"updaterandom", "N times: read a written key, then write it", Kind::kThreads, UpdateRandom, "update",
     Summary::kUpdates},
    {"readrandom", "read N keys drawn from the written ones", Kind::kThreads, ReadRandom, "read",
     Summary::kFound},
    {"readmissing", "read N keys that are not there", Kind::kThreads, ReadMissing, "read", Summary::kFound},
    {"readseq", "scan N entries forwards", Kind::kThreads, ReadSequential, "read"},
    {"readreverse", "scan N entries backwards", Kind::kThreads, ReadReverse, "read"},
    {"seekrandom", "N times: a new iterator, Seek to a written key, --seek_nexts times Next", Kind::kThreads,
     SeekRandom, "seek", Summary::kFound},
    {"seekordered", "N times Seek a little further, with one iterator", Kind::kThreads, SeekOrdered, "seek",
     Summary::kFound},
    {"readwhilewriting", "readrandom, with one more thread that overwrites", Kind::kThreadsAndWriter,
     ReadRandom, "read", Summary::kFound},
    {"seekrandomwhilewriting", "seekrandom, with one more thread that overwrites", Kind::kThreadsAndWriter,
     SeekRandom, "seek", Summary::kFound},
    {"readrandomwriterandom", "N operations, --readwritepercent of them reads, the others overwrite",
     Kind::kThreads, ReadRandomWriteRandom, "operation", Summary::kReadsAndWrites},
    {"deleteseq", "delete N keys in order", Kind::kThreads, DeleteSequential, "delete"},
    {"deleterandom", "delete N keys drawn from all", Kind::kThreads, DeleteRandom, "delete"},
    {"compact", "merge the whole DB", Kind::kOnce, CompactAll},
    {"flush", "flush the memtable", Kind::kOnce, FlushMemtable},
    {"waitforcompaction", "wait until no flush or merge is due", Kind::kOnce, WaitForCompaction},
    {"open", "how long opening the DB took; with --use_existing_db that of a DB which was there", Kind::kOpen,
     nullptr},
    {"stats", "print the engine's statistics", Kind::kProperty, nullptr},
    {"levelstats", "print what lies in each level", Kind::kProperty, nullptr},
};

// Every thread of every benchmark has numbers of its own, and the same ones in the next run with this seed.
uint64_t SeedOf(uint64_t seed, const std::string& benchmark, int index) {
  uint64_t mixed = seed;
  for (const char c : benchmark) mixed = mixed * 31 + static_cast<unsigned char>(c);
  return mixed * 1000003 + static_cast<uint64_t>(index);
}

}  // namespace

Thread::Thread(Shared* shared_state, const std::string& name, int thread_index, int thread_count)
    : shared(shared_state),
      config(shared_state->config),
      benchmark(name),
      index(thread_index),
      count(thread_count),
      random(SeedOf(config.seed, name, thread_index)),
      key(config.key_bytes),
      values(config.value_bytes, &random),
      session(shared_state->engine->NewSession()),
      stats(config, thread_index) {}

void Thread::Fail(const std::string& message) const {
  fflush(stdout);
  fprintf(stderr, "\npmlsm_bench: %s: %s\n", benchmark.c_str(), message.c_str());
  std::_Exit(1);  // other threads still run
}

const Workload* FindWorkload(const std::string& name) {
  for (const Workload& workload : kWorkloads)
    if (name == workload.name) return &workload;
  return nullptr;
}

std::string WorkloadHelp() {
  std::string text;
  for (const Workload& workload : kWorkloads) {
    char line[160];
    snprintf(line, sizeof(line), "  %-22s  %s\n", workload.name, workload.help);
    text += line;
  }
  return text;
}

}  // namespace pmlsm::bench
