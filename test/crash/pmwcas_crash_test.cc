// Multi-word compare-and-swaps of two threads are whole after a power failure at any instant. Power failures in the
// recovery: node_crash_test.cc.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cinttypes>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "pmem/store.h"
#include "primitives/pmwcas.h"
#include "test/crash/forked_run.h"
#include "test/crash/simulator.h"
#include "util/check.h"
#include "util/random.h"

namespace pmlsm::crash {
namespace {

using primitives::Pmwcas;
using primitives::PmwcasThread;

constexpr unsigned kRunSecondsMax = 300;
constexpr uint64_t kSeed = 5;
constexpr int kThreads = 2;
constexpr uint64_t kChanges = 40;  // of each thread
constexpr uint32_t kShared = 5;    // words that all threads change, kTouched at once
constexpr uint32_t kTouched = 3;
constexpr uint64_t kAreaOffset = 4096;
constexpr uint64_t kFileBytes = 64 << 10;
static_assert(kAreaOffset + Pmwcas::kAreaBytes <= kFileBytes);

// What each thread's own word says: its changes.
struct PmwcasOracle {
  uint64_t started[kThreads];
  uint64_t acknowledged[kThreads];
};

// The file, mapped, and recovered. Each change adds one to kTouched shared words and to the thread's own.
class Words {
 public:
  explicit Words(const std::string& directory) {
    const int fd = open((directory + "/words").c_str(), O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    void* const mapping = mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(mapping != MAP_FAILED);
    close(fd);
    bytes_ = static_cast<char*>(mapping);
  }
  ~Words() { munmap(bytes_, kFileBytes); }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  char* bytes() { return bytes_; }
  uint64_t* Shared(uint32_t i) { return reinterpret_cast<uint64_t*>(bytes_) + (1 + i) * 8; }
  uint64_t* Own(int thread) { return Shared(kShared + thread); }

 private:
  char* bytes_;
};

void RunThread(Words* words, Pmwcas* pmwcas, PersistCounters* counters, int number, PmwcasOracle* oracle) {
  PmwcasThread thread(pmwcas, pmlsm::Medium::kTmpfs, counters);
  Random random(kSeed + number);
  for (uint64_t done = 0; done < kChanges;) {
    Pmwcas::Change changes[kTouched + 1] = {{words->Own(number), done, done + 1}};
    const auto first = static_cast<uint32_t>(random.Uniform(kShared));
    for (uint32_t i = 0; i < kTouched; ++i) {
      uint64_t* const word = words->Shared((first + i) % kShared);
      const uint64_t now = thread.Read(word);
      changes[1 + i] = {word, now, now + 1};
    }
    __atomic_store_n(&oracle->started[number], done + 1, __ATOMIC_RELEASE);
    bool changed = false;
    CHECK(thread.Execute(changes, kTouched + 1, &changed).ok());
    if (!changed) continue;
    ++done;
    __atomic_store_n(&oracle->acknowledged[number], done, __ATOMIC_RELEASE);
  }
}

std::string CheckWords(Words* words, const PmwcasOracle& sure, const PmwcasOracle& begun) {
  uint64_t changes = 0;
  for (int t = 0; t < kThreads; ++t) {
    const uint64_t own = *words->Own(t);
    if (own < sure.acknowledged[t]) {
      return "of " + std::to_string(sure.acknowledged[t]) + " acknowledged changes, " + std::to_string(own) +
             " are there";
    }
    if (own > begun.started[t]) return "a change that nobody has started, or a reference";
    changes += own;
  }
  uint64_t sum = 0;
  for (uint32_t i = 0; i < kShared; ++i) sum += *words->Shared(i);
  return sum == changes * kTouched ? "" : "half a change";
}

std::string CheckImage(const std::string& directory, const void* before, const void* after) {
  Words words(directory);
  Pmwcas pmwcas(words.bytes(), kFileBytes, kAreaOffset);
  PersistCounters counters;
  Store store(pmlsm::Medium::kTmpfs, &counters);
  const Status status = pmwcas.Recover(&store);
  if (!status.ok()) return status.ToString();
  const auto& sure = *static_cast<const PmwcasOracle*>(before);
  std::string wrong = CheckWords(&words, sure, *static_cast<const PmwcasOracle*>(after));
  if (!wrong.empty()) return wrong;
  // Goes on working.
  PmwcasThread thread(&pmwcas, pmlsm::Medium::kTmpfs, &counters);
  const uint64_t now = *words.Shared(0);
  const Pmwcas::Change changes[] = {{words.Shared(0), now, now + kTouched},
                                    {words.Own(0), *words.Own(0), *words.Own(0) + 1}};
  bool changed = false;
  if (!thread.Execute(changes, 2, &changed).ok() || !changed) return "takes no further change";
  PmwcasOracle any = {};
  for (uint64_t& started : any.started) started = kChanges + 1;
  return CheckWords(&words, sure, any);
}

Simulator* Start(Plan plan, Report* report) {
  plan.seed = kSeed;
  plan.at_flushes = true;
  plan.random_images = 8;
  return Simulator::Start(plan, sizeof(PmwcasOracle), CheckImage, report);
}

void ExpectPassed(const Report& report, uint64_t images_min) {
  EXPECT_EQ(report.failures, 0u) << report.first_failure;
  EXPECT_TRUE(report.finished);
  EXPECT_EQ(report.strangers, 0u);
  uint64_t images = 0;
  for (int i = 0; i < report.phases; ++i) images += report.phase[i].images;
  EXPECT_GE(images, images_min);
  printf("%" PRIu64 " images\n", images);
}

TEST(PmwcasCrashTest, ChangesAreWholeAfterPowerFailuresAtAnyInstant) {
  const ScratchDirectory scratch;
  Plan plan;
  plan.scratch = scratch.path();
  plan.start = scratch.path() + "/start";
  std::filesystem::create_directory(plan.start);
  std::ofstream(plan.start + "/words") << std::string(kFileBytes, '\0');
  const Report life = RunForked(kRunSecondsMax, [&](Report* report) {
    Simulator* const simulator = Start(plan, report);
    auto* const oracle = static_cast<PmwcasOracle*>(simulator->oracle());
    Words words(plan.LiveDirectory());
    Pmwcas pmwcas(words.bytes(), kFileBytes, kAreaOffset);
    PersistCounters counters;
    simulator->SetPhase("change", 1);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] { RunThread(&words, &pmwcas, &counters, t, oracle); });
    }
    for (std::thread& thread : threads) thread.join();
    simulator->Finish();
    return CheckWords(&words, *oracle, *oracle);
  });
  ExpectPassed(life, 1000);
}

}  // namespace
}  // namespace pmlsm::crash
