// The flags that are not an engine's own. Names and defaults are db_bench's where db_bench has the flag;
// --sync is on, as it is in the library.
#include <gflags/gflags.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "pmlsm/types.h"
#include "tools/bench/config.h"
#include "tools/bench/workloads.h"
#include "tools/flag_check.h"

DEFINE_string(
    benchmarks,
    "fillseq,fillrandom,overwrite,readrandom,readmissing,readseq,readreverse,seekrandom,readwhilewriting",
    "Comma-separated list of benchmarks, run in this order; the names are listed below");
DEFINE_string(engine, "pmlsm", "The key-value store to measure");
DEFINE_string(db, "", "The DB's directory; empty = pmlsm_bench-<user id> in /dev/shm");
DEFINE_bool(use_existing_db, false,
            "Keep the DB that is there; benchmarks that need a fresh one are skipped");

DEFINE_int64(num, 1000000, "Entries in the DB");
DEFINE_int64(reads, -1, "Reads a thread; negative = --num");
DEFINE_int64(scans, -1, "Entries that readseq and readreverse visit, a thread; negative = --reads");
DEFINE_int64(writes, -1, "Writes a thread; negative = --num");
DEFINE_int64(deletes, -1, "Deletes a thread; negative = --num");
DEFINE_int32(key_size, 16, "Bytes of a key");
DEFINE_int32(value_size, 100, "Bytes of a value");
DEFINE_int32(threads, 1, "Threads that run a benchmark");
DEFINE_bool(
    divide_work, false,
    "--reads, --scans, --writes and --deletes are those of all threads together; fillrandom's threads write "
    "different keys");
DEFINE_int32(duration, 0, "Seconds that benchmarks in random order run; 0 = as many operations as asked for");
DEFINE_int64(seed, 0, "Seed of all random numbers; 0 = from the time");
DEFINE_int64(batch_size, 1, "Entries of a write batch");
DEFINE_int32(seek_nexts, 0, "Next calls after each Seek");
DEFINE_int32(readwritepercent, 90, "readrandomwriterandom: reads in 100 operations");
DEFINE_bool(random_with_replacement, false,
            "fillrandom draws each key with replacement, as db_bench does, so that about 63 % of the keys "
            "get written; "
            "otherwise it writes each key once, in a random order that the seed picks");

DEFINE_bool(sync, true, "A write returns once it survives a power cut");
DEFINE_bool(disable_wal, false, "Write no log; --sync is then off");
DEFINE_bool(verify_checksum, true, "Reads check what they read");
DEFINE_int64(write_buffer_size, 0, "Bytes of a memtable; 0 = the engine's default");
DEFINE_int32(max_write_buffer_number, 0, "Memtables; 0 = the engine's default");
DEFINE_int32(max_background_jobs, 0, "Background threads; 0 = the engine's default");
DEFINE_int32(bloom_bits, -1, "Bloom filter bits a key; 0 = no filter, negative = the engine's default");

DEFINE_bool(histogram, false, "Measure each operation and print a histogram");
DEFINE_string(json, "", "Measure each operation and write the results to this file, an array of objects");
DEFINE_int64(stats_interval, 0, "A line on stderr each time a thread has done so many operations; 0 = none");
DEFINE_bool(progress_reports, true, "Show progress on stderr");

namespace pmlsm::bench {
namespace {

constexpr int64_t kCountMax = int64_t{1} << 48;

bool CheckPositiveCount(const char* flag, int64_t value) { return CheckFlagRange(flag, value, 1, kCountMax); }
bool CheckCount(const char* flag, int64_t value) { return CheckFlagRange(flag, value, 0, kCountMax); }
bool CheckCountOrAll(const char* flag, int64_t value) { return CheckFlagRange(flag, value, -1, kCountMax); }
bool CheckInt32Count(const char* flag, int32_t value) {
  return CheckFlagRange(flag, value, 0, std::numeric_limits<int32_t>::max());
}
bool CheckKeySize(const char* flag, int32_t value) {
  return CheckFlagRange(flag, value, 1, kMaxKeyBytes - 1);
}
bool CheckValueSize(const char* flag, int32_t value) {
  return CheckFlagRange(flag, value, 0, kMaxValueBytes);
}
bool CheckThreads(const char* flag, int32_t value) { return CheckFlagRange(flag, value, 1, 1024); }
bool CheckPercent(const char* flag, int32_t value) { return CheckFlagRange(flag, value, 0, 100); }
bool CheckEngine(const char* flag, const std::string& value) {
  if (NewEngine(value, EngineOptions()) != nullptr) return true;
  return RefuseFlag(flag, value, "one of " + EngineNames());
}

}  // namespace
}  // namespace pmlsm::bench

DEFINE_validator(num, &pmlsm::bench::CheckPositiveCount);
DEFINE_validator(reads, &pmlsm::bench::CheckCountOrAll);
DEFINE_validator(scans, &pmlsm::bench::CheckCountOrAll);
DEFINE_validator(writes, &pmlsm::bench::CheckCountOrAll);
DEFINE_validator(deletes, &pmlsm::bench::CheckCountOrAll);
DEFINE_validator(key_size, &pmlsm::bench::CheckKeySize);
DEFINE_validator(value_size, &pmlsm::bench::CheckValueSize);
DEFINE_validator(threads, &pmlsm::bench::CheckThreads);
DEFINE_validator(duration, &pmlsm::bench::CheckInt32Count);
DEFINE_validator(seed, &pmlsm::bench::CheckCount);
DEFINE_validator(batch_size, &pmlsm::bench::CheckPositiveCount);
DEFINE_validator(seek_nexts, &pmlsm::bench::CheckInt32Count);
DEFINE_validator(readwritepercent, &pmlsm::bench::CheckPercent);
DEFINE_validator(write_buffer_size, &pmlsm::bench::CheckCount);
DEFINE_validator(max_write_buffer_number, &pmlsm::bench::CheckInt32Count);
DEFINE_validator(max_background_jobs, &pmlsm::bench::CheckInt32Count);
DEFINE_validator(stats_interval, &pmlsm::bench::CheckCount);
DEFINE_validator(engine, &pmlsm::bench::CheckEngine);

namespace pmlsm::bench {
namespace {

FlaggedTool Tool() {
  return {"pmlsm_bench", "tools/bench/", "pmlsm_bench measures key-value stores with db_bench's workloads.",
          "\nEngines: " + EngineNames() + "\n\nBenchmarks:\n" + WorkloadHelp()};
}

[[noreturn]] void Refuse(const std::string& message) { RefuseCommandLine(Tool(), message); }

bool IsSetByUser(const char* flag) { return !google::GetCommandLineFlagInfoOrDie(flag).is_default; }

std::vector<std::string> SplitBenchmarks(const std::string& list) {
  std::vector<std::string> names;
  for (size_t start = 0; start <= list.size();) {
    const size_t end = std::min(list.find(',', start), list.size());
    const std::string name = list.substr(start, end - start);
    if (!name.empty()) names.push_back(name);
    start = end + 1;
  }
  for (const std::string& name : names) {
    if (FindWorkload(name) == nullptr)
      Refuse("unknown benchmark '" + name + "'; the known ones:\n" + WorkloadHelp());
  }
  if (names.empty()) Refuse("--benchmarks names none; the known ones:\n" + WorkloadHelp());
  return names;
}

// A thread's.
uint64_t CountOrNum(int64_t count) {
  const uint64_t given = static_cast<uint64_t>(count < 0 ? FLAGS_num : count);
  return FLAGS_divide_work ? given / static_cast<uint64_t>(FLAGS_threads) : given;
}

uint64_t SeedFromFlag() {
  if (FLAGS_seed != 0) return static_cast<uint64_t>(FLAGS_seed);
  const uint64_t seed = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                                  std::chrono::system_clock::now().time_since_epoch())
                                                  .count());
  fprintf(stderr, "Set seed to %" PRIu64 " because --seed was 0\n", seed);
  return seed;
}

EngineOptions EngineOptionsFromFlags() {
  if (FLAGS_disable_wal && FLAGS_sync && IsSetByUser("sync"))
    Refuse("--sync and --disable_wal exclude each other: without a log a write cannot be durable");
  EngineOptions options;
  options.path = FLAGS_db.empty() ? "/dev/shm/pmlsm_bench-" + std::to_string(getuid()) : FLAGS_db;
  options.sync = FLAGS_sync && !FLAGS_disable_wal;
  options.disable_wal = FLAGS_disable_wal;
  options.verify_checksum = FLAGS_verify_checksum;
  options.write_buffer_size = static_cast<uint64_t>(FLAGS_write_buffer_size);
  options.max_write_buffer_number = FLAGS_max_write_buffer_number;
  options.max_background_jobs = FLAGS_max_background_jobs;
  options.bloom_bits = FLAGS_bloom_bits;
  options.entries = static_cast<uint64_t>(FLAGS_num);
  options.key_bytes = static_cast<uint64_t>(FLAGS_key_size);
  options.value_bytes = static_cast<uint64_t>(FLAGS_value_size);
  const Status s = ApplyEngineName(FLAGS_engine, &options);
  if (!s.ok()) Refuse("--engine=" + FLAGS_engine + ": " + s.ToString());
  return options;
}

}  // namespace

Config ParseCommandLine(int argc, char** argv) {
  ParseFlags(Tool(), argc, argv);
  if (FLAGS_key_size < 8 && (static_cast<uint64_t>(FLAGS_num) - 1) >> (8 * FLAGS_key_size) != 0)
    Refuse("--key_size=" + std::to_string(FLAGS_key_size) +
           ": too small for --num=" + std::to_string(FLAGS_num) + " different keys");

  Config config;
  config.benchmarks = SplitBenchmarks(FLAGS_benchmarks);
  config.engine = FLAGS_engine;
  config.engine_options = EngineOptionsFromFlags();
  config.use_existing_db = FLAGS_use_existing_db;
  config.num = static_cast<uint64_t>(FLAGS_num);
  config.reads = CountOrNum(FLAGS_reads);
  config.scans = FLAGS_scans < 0 ? config.reads : CountOrNum(FLAGS_scans);
  config.writes = CountOrNum(FLAGS_writes);
  config.deletes = CountOrNum(FLAGS_deletes);
  config.key_bytes = static_cast<size_t>(FLAGS_key_size);
  config.value_bytes = static_cast<size_t>(FLAGS_value_size);
  config.threads = FLAGS_threads;
  config.divide_work = FLAGS_divide_work;
  config.duration_seconds = static_cast<uint64_t>(FLAGS_duration);
  config.seed = SeedFromFlag();
  config.batch_size = static_cast<uint64_t>(FLAGS_batch_size);
  config.seek_nexts = static_cast<uint64_t>(FLAGS_seek_nexts);
  config.read_percent = static_cast<uint64_t>(FLAGS_readwritepercent);
  config.random_with_replacement = FLAGS_random_with_replacement;
  config.histogram = FLAGS_histogram;
  config.json_file = FLAGS_json;
  config.stats_interval = static_cast<uint64_t>(FLAGS_stats_interval);
  config.progress = FLAGS_progress_reports;
  return config;
}

}  // namespace pmlsm::bench
