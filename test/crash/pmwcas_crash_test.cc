// Multi-word compare-and-swaps of two threads are whole after a power failure at any instant. Power failures in the
// recovery: node_crash_test.cc.
#include <gtest/gtest.h>

#include <cinttypes>
#include <string>
#include <thread>
#include <vector>

#include "pmem/store.h"
#include "primitives/pmwcas.h"
#include "test/crash/forked_run.h"
#include "test/crash/simulator.h"
#include "test/crash/word_file.h"
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

// What each thread's own word says: its changes.
struct PmwcasOracle {
  uint64_t started[kThreads];
  uint64_t acknowledged[kThreads];
};

// Each change adds one to kTouched shared words and to the thread's own.
class Words : public WordFile {
 public:
  using WordFile::WordFile;
  uint64_t* Shared(uint32_t i) { return At(i); }
  uint64_t* Own(int thread) { return At(kShared + thread); }
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
  Pmwcas pmwcas(words.bytes(), Words::kBytes, Words::kDescriptorsOffset);
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
  WordFile::Create(plan.start);
  const Report life = RunForked(kRunSecondsMax, [&](Report* report) {
    Simulator* const simulator = Start(plan, report);
    auto* const oracle = static_cast<PmwcasOracle*>(simulator->oracle());
    Words words(plan.LiveDirectory());
    Pmwcas pmwcas(words.bytes(), Words::kBytes, Words::kDescriptorsOffset);
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
