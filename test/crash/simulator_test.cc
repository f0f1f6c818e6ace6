// The simulator finds each planted bug, and nothing where there is none.
#include "test/crash/simulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "test/crash/forked_run.h"
#include "test/crash/mini_store.h"

namespace pmlsm::crash {
namespace {

constexpr size_t kPoolBytes = 8 << 20;
constexpr unsigned kRunSecondsMax = 300;
constexpr uint64_t kRecords = 60;

struct MiniOracle {
  uint64_t created;
  uint64_t started;
  uint64_t acknowledged;
};

std::string ValueOf(uint64_t number) {
  return std::string(100 + number * 37 % 900, static_cast<char>('a' + number % 26));
}

std::string CheckImage(const std::string& directory, const void* before, const void* after) {
  const MiniOracle& sure = *static_cast<const MiniOracle*>(before);
  const MiniOracle& begun = *static_cast<const MiniOracle*>(after);
  MiniStore store(PlantedBug::kNone);
  if (!store.Open(directory + "/pool")) return sure.created != 0 ? "the pool does not open" : "";
  std::vector<uint64_t> numbers;
  std::string wrong = store.Scan(&numbers);
  if (!wrong.empty()) return wrong;
  std::sort(numbers.begin(), numbers.end());
  if (numbers.size() < sure.acknowledged) return "an acknowledged record is lost";
  if (numbers.size() > begun.started) return "a record that nobody has put";
  for (uint64_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != i) return "a record is missing between others";
  }
  const uint64_t next = numbers.size();
  if (!store.NewSegment() || !store.Put(next, ValueOf(next))) return "no record can be put";
  store.Close();
  if (!store.Open(directory + "/pool")) return "the pool does not open again";
  numbers.clear();
  wrong = store.Scan(&numbers);
  if (!wrong.empty()) return wrong + " when opened again";
  return numbers.size() == next + 1 ? "" : "a record put after recovery is lost";
}

std::string RunStore(PlantedBug bug, Simulator* simulator, const Plan& plan) {
  auto* const oracle = static_cast<MiniOracle*>(simulator->oracle());
  MiniStore store(bug);
  simulator->SetPhase("create", 10);
  if (!store.Create(plan.LiveDirectory() + "/pool", kPoolBytes)) return "the pool cannot be created";
  oracle->created = 1;
  simulator->SetPhase("put", 1);
  for (uint64_t i = 0; i < kRecords; ++i) {
    oracle->started = i + 1;
    if (!store.Put(i, ValueOf(i))) return "a record cannot be put";
    oracle->acknowledged = i + 1;
  }
  return "";
}

Report RunWithFailures(PlantedBug bug, bool at_flushes) {
  const ScratchDirectory scratch;
  return RunForked(kRunSecondsMax, [&](Report* report) {
    Plan plan;
    plan.scratch = scratch.path();
    plan.at_flushes = at_flushes;
    Simulator* const simulator = Simulator::Start(plan, sizeof(MiniOracle), CheckImage, report);
    const std::string wrong = RunStore(bug, simulator, plan);
    simulator->Finish();
    return wrong;
  });
}

class PlantedBugTest : public testing::TestWithParam<PlantedBug> {};

TEST_P(PlantedBugTest, IsFound) {
  const Report report = RunWithFailures(GetParam(), false);
  EXPECT_GT(report.failures, 0u);
  EXPECT_TRUE(report.finished) << report.first_failure;
  printf("found: %s\n", report.first_failure);
}

INSTANTIATE_TEST_SUITE_P(All, PlantedBugTest,
                         testing::Values(PlantedBug::kPublishFirst, PlantedBug::kNoFenceBetween,
                                         PlantedBug::kLastLineUnflushed, PlantedBug::kOffsetUnflushed,
                                         PlantedBug::kRangeNotInTransaction, PlantedBug::kChangedAfterFlush));

class SoundStoreTest : public testing::TestWithParam<bool> {};

TEST_P(SoundStoreTest, PassesEveryImage) {
  const Report report = RunWithFailures(PlantedBug::kNone, GetParam());
  EXPECT_EQ(report.failures, 0u) << report.first_failure;
  uint64_t images = 0;
  for (int i = 0; i < report.phases; ++i) images += report.phase[i].images;
  EXPECT_GT(images, kRecords);
  printf("%lu images, at most %lu lines pending and %lu dirty\n", images, report.lines_pending_max,
         report.lines_dirty_max);
}

INSTANTIATE_TEST_SUITE_P(AtFencesAndAtFlushes, SoundStoreTest, testing::Bool());

}  // namespace
}  // namespace pmlsm::crash
