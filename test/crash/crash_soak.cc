// crash_soak: power failures for as long as one likes, over all modes, with seeds of its own; and replay.
//
//   crash_soak --minutes=N [--seed=S] [--run="failure_atomicity=1 seed=7 ..."]
//   crash_soak --replay=DIRECTORY
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "test/crash/db_suite.h"
#include "util/random.h"

namespace pmlsm::crash {
namespace {

constexpr int kRecoveries = 2;
constexpr int kRandomImages = 8;

DbRunConfig RandomConfig(uint64_t seed, uint64_t round) {
  Random random(seed + round);
  for (int i = 0; i < 4; ++i) random.Next();
  DbRunConfig config;
  config.failure_atomicity = static_cast<FailureAtomicity>(round % 3);
  config.memtable = static_cast<MemTableType>(round / 3 % 2);
  config.merge_order = random.OneIn(2) ? MergeOrder::k2Way : MergeOrder::kKWay;
  config.merge_destination = random.OneIn(2) ? MergeDestination::kDirect : MergeDestination::kBuffered;
  config.compaction_style = static_cast<CompactionStyle>(random.Uniform(3));
  config.background_jobs = 1 + static_cast<int>(random.Uniform(2));
  config.writers = 1 + static_cast<int>(random.Uniform(kWritersMax));
  config.unsynced = random.OneIn(3);
  config.reader = !config.unsynced && random.OneIn(2);
  config.full_pool = random.OneIn(8);
  config.at_flushes = round % 4 == 3;
  // So that runs take about as long: transactions fence their logs, and flushes are many.
  config.sparseness = config.failure_atomicity == FailureAtomicity::kTransaction ? 4 : 1;
  if (config.at_flushes) config.sparseness *= 8;
  config.random_images = kRandomImages;
  config.seed = seed + round;
  return config;
}

bool StartsWith(const char* text, const char* head, const char** rest) {
  const size_t bytes = strlen(head);
  *rest = text + bytes;
  return strncmp(text, head, bytes) == 0;
}

// True if no run failed.
bool Soak(double minutes, uint64_t seed, const std::string& only) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const auto seconds = [&begin] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  std::map<std::string, std::vector<Report>> by_mode;
  uint64_t images = 0;
  uint64_t distinct = 0;
  uint64_t runs = 0;
  bool sound = true;
  while (sound && (runs == 0 || seconds() < minutes * 60)) {
    DbRunConfig config = RandomConfig(seed, runs++);
    if (!only.empty()) config.Parse(only);
    const SuiteResult result = RunDbSuite(config, kRecoveries);
    images += result.images;
    distinct += result.distinct;
    auto& reports = by_mode[ToString(config.failure_atomicity)];
    reports.insert(reports.end(), result.reports.begin(), result.reports.end());
    sound = result.failure.empty();
    printf("%6.0f s %8" PRIu64 " images  %s\n", seconds(), images, config.ToString().c_str());
    if (!sound)
      printf("FAILED: %s\n  again: scripts/crash_soak --minutes=0 --run=\"%s\"\n", result.failure.c_str(),
             config.ToString().c_str());
    fflush(stdout);
  }
  for (const auto& [mode, reports] : by_mode) printf("%s\n%s", mode.c_str(), FormatPhases(reports).c_str());
  printf("%" PRIu64 " runs, %" PRIu64 " images checked in %.0f s, %" PRIu64 " of them distinct, %s\n", runs,
         images, seconds(), distinct, sound ? "none failed" : "one failed");
  return sound;
}

int Main(int argc, char** argv) {
  double minutes = 1;
  uint64_t seed = 1;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    const char* value;
    if (StartsWith(argv[i], "--minutes=", &value)) {
      minutes = atof(value);
    } else if (StartsWith(argv[i], "--seed=", &value)) {
      seed = strtoull(value, nullptr, 10);
    } else if (StartsWith(argv[i], "--run=", &value)) {
      only = value;
    } else if (StartsWith(argv[i], "--replay=", &value)) {
      const std::string wrong = ReplayKeptImage(value);
      printf("%s\n", wrong.empty() ? "all holds" : wrong.c_str());
      return wrong.empty() ? 0 : 1;
    } else {
      fprintf(stderr,
              "usage: crash_soak [--minutes=N] [--seed=S] [--run=\"name=value ...\"] | --replay=DIRECTORY\n");
      return 2;
    }
  }
  return Soak(minutes, seed, only) ? 0 : 1;
}

}  // namespace
}  // namespace pmlsm::crash

int main(int argc, char** argv) { return pmlsm::crash::Main(argc, argv); }
