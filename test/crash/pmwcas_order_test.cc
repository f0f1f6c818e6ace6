// Two threads of PMwCAS on the same words, stepped through each order of their atomic accesses, flushes and fences that
// needs up to two preemptions, and through random ones with more; power failures at every flush and fence of each.
//
// What an image may hold is found by trying: some order of whole operations, among them all that were reported, with
// their results, and none that had not begun, must leave the words as they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "pmem/store.h"
#include "primitives/pmwcas.h"
#include "test/crash/forked_run.h"
#include "test/crash/simulator.h"
#include "test/crash/stepper.h"
#include "test/crash/word_file.h"
#include "util/check.h"
#include "util/random.h"

namespace pmlsm::crash {
namespace {

using primitives::Pmwcas;
using primitives::PmwcasThread;

constexpr unsigned kRunSecondsMax = 280;
constexpr uint64_t kSeed = 17;
constexpr uint32_t kWords = 4;
constexpr int kThreads = Stepper::kThreads;
constexpr int kOperationsMax = 6;

using Values = std::array<uint64_t, kWords>;

struct Change {
  uint32_t word;
  uint64_t expected;
  uint64_t desired;
};
// A compare-and-swap of these words, whose result is 1 if it changed them; or, without, a read of `read`.
struct Operation {
  std::vector<Change> changes;
  uint32_t read = 0;
};
struct Scenario {
  const char* name;
  std::vector<Operation> operations[kThreads];
  int preemptions;       // all schedules with up to so many
  uint64_t random_runs;  // and so many with more
};

// All words are 0 at first.
const std::vector<Scenario>& Scenarios() {
  static const std::vector<Scenario> scenarios = {
      {"one wins",
       {{{{{0, 0, 1}, {1, 0, 1}, {2, 0, 1}}}, {{}, 1}}, {{{{1, 0, 2}, {2, 0, 2}, {3, 0, 2}}}, {{}, 2}}},
       2,
       300},
      {"one after the other",
       {{{{{0, 0, 1}, {1, 0, 1}, {2, 0, 1}}}}, {{{}, 1}, {{{1, 1, 3}, {2, 1, 3}, {3, 0, 3}}}, {{}, 0}}},
       2,
       300},
      {"an old value comes back",
       {{{{{0, 0, 1}, {1, 0, 1}}}, {{{0, 1, 0}, {1, 1, 0}}}}, {{{{0, 0, 2}, {1, 0, 2}, {2, 0, 2}}}, {{}, 0}}},
       2,
       300},
      {"descriptors come again",
       {{{{{0, 0, 1}, {1, 0, 1}}},
         {{{0, 1, 2}, {1, 1, 2}}},
         {{{0, 2, 3}, {1, 2, 3}}},
         {{{0, 3, 4}, {1, 3, 4}}},
         {{{0, 4, 0}, {1, 4, 0}}},
         {{{0, 0, 5}, {1, 0, 5}}}},
        {{{{0, 0, 9}, {1, 0, 9}, {3, 0, 9}}}}},
       1,
       300},
  };
  return scenarios;
}

struct Oracle {
  uint64_t scenario;
  uint64_t started[kThreads];
  uint64_t reported[kThreads];
  uint64_t result[kThreads][kOperationsMax];
};

class Words : public WordFile {
 public:
  using WordFile::WordFile;
  Values Read() {
    Values values;
    for (uint32_t i = 0; i < kWords; ++i) values[i] = *At(i);
    return values;
  }
  // As at first, so that the same state is the same bytes whatever ran before.
  void Clear(Store* store) {
    const std::vector<char> zeros(kBytes);
    store->Copy(bytes(), zeros.data(), zeros.size());
    store->FlushLines(bytes(), kBytes);
    CHECK(store->Fence().ok());
  }
};

// What the operation does to words that nobody else changes.
uint64_t Apply(const Operation& operation, Values* values) {
  if (operation.changes.empty()) return (*values)[operation.read];
  for (const Change& change : operation.changes) {
    if ((*values)[change.word] != change.expected) return 0;
  }
  for (const Change& change : operation.changes) (*values)[change.word] = change.desired;
  return 1;
}

// Whether `values` may be there once done[t] operations of each thread have taken effect and have left `now`.
bool Explained(const Oracle& oracle, const Values& values, const std::array<uint64_t, kThreads>& done,
               const Values& now) {
  if (done[0] >= oracle.reported[0] && done[1] >= oracle.reported[1] && now == values) return true;
  for (int t = 0; t < kThreads; ++t) {
    if (done[t] == oracle.started[t]) continue;
    Values next = now;
    const uint64_t result = Apply(Scenarios()[oracle.scenario].operations[t][done[t]], &next);
    if (done[t] < oracle.reported[t] && result != oracle.result[t][done[t]]) continue;
    std::array<uint64_t, kThreads> more = done;
    ++more[t];
    if (Explained(oracle, values, more, next)) return true;
  }
  return false;
}

std::string CheckValues(const Oracle& oracle, const Values& values) {
  if (Explained(oracle, values, {}, {})) return "";
  std::string text = std::string(Scenarios()[oracle.scenario].name) + ": words";
  for (const uint64_t value : values) text += " " + std::to_string(value);
  for (int t = 0; t < kThreads; ++t) {
    text += "; thread " + std::to_string(t) + " started " + std::to_string(oracle.started[t]) + ", results";
    for (uint64_t i = 0; i < oracle.reported[t]; ++i) text += " " + std::to_string(oracle.result[t][i]);
  }
  return text;
}

std::string CheckImage(const std::string& directory, const void* before, const void*) {
  Words words(directory);
  Pmwcas pmwcas(words.bytes(), Words::kBytes, Words::kDescriptorsOffset);
  PersistCounters counters;
  Store store(pmlsm::Medium::kTmpfs, &counters);
  const Status status = pmwcas.Recover(&store);
  if (!status.ok()) return status.ToString();
  return CheckValues(*static_cast<const Oracle*>(before), words.Read());
}

class ScheduleRun {
 public:
  ScheduleRun(Simulator* simulator, const std::string& directory)
      : simulator_(simulator),
        oracle_(static_cast<Oracle*>(simulator->oracle())),
        words_(directory),
        store_(pmlsm::Medium::kTmpfs, &counters_) {}

  // Returns what is wrong. All schedules with up to the scenario's preemptions, then random ones with more.
  std::string AllSchedules(uint64_t scenario) {
    Random random(kSeed + scenario);
    for (int first = 0; first < kThreads && wrong_.empty(); ++first) {
      const uint64_t steps = Preempted(scenario, {first, {}}, Scenarios()[scenario].preemptions);
      for (uint64_t i = 0; i < Scenarios()[scenario].random_runs && wrong_.empty(); ++i) {
        Stepper::Schedule schedule{first, {}};
        const uint64_t preemptions = 3 + random.Uniform(6);
        for (uint64_t j = 0; j < preemptions; ++j) schedule.preempted_at.push_back(random.Uniform(steps));
        std::sort(schedule.preempted_at.begin(), schedule.preempted_at.end());
        schedule.preempted_at.erase(std::unique(schedule.preempted_at.begin(), schedule.preempted_at.end()),
                                    schedule.preempted_at.end());
        Once(scenario, schedule);
      }
    }
    return wrong_;
  }
  uint64_t runs() const { return runs_; }

 private:
  // The schedule, and all that preempt up to `more` times behind its last preemption. Returns its steps.
  uint64_t Preempted(uint64_t scenario, const Stepper::Schedule& schedule, int more) {
    const uint64_t steps = Once(scenario, schedule);
    if (more == 0) return steps;
    const uint64_t begin = schedule.preempted_at.empty() ? 0 : schedule.preempted_at.back() + 1;
    for (uint64_t at = begin; at < steps && wrong_.empty(); ++at) {
      Stepper::Schedule longer = schedule;
      longer.preempted_at.push_back(at);
      Preempted(scenario, longer, more - 1);
    }
    return steps;
  }

  uint64_t Once(uint64_t scenario, const Stepper::Schedule& schedule) {
    simulator_->SetPhase("prepare", 0);
    words_.Clear(&store_);
    memset(oracle_, 0, sizeof(*oracle_));
    oracle_->scenario = scenario;
    Pmwcas pmwcas(words_.bytes(), Words::kBytes, Words::kDescriptorsOffset);
    std::unique_ptr<PmwcasThread> threads[kThreads];
    for (auto& thread : threads) {
      thread = std::make_unique<PmwcasThread>(&pmwcas, pmlsm::Medium::kTmpfs, &counters_);
    }
    simulator_->SetPhase(Scenarios()[scenario].name, 1);
    const uint64_t steps = stepper_.Run(schedule, [&](int t) { Operate(t, threads[t].get()); });
    ++runs_;
    wrong_ = CheckValues(*oracle_, words_.Read());
    return steps;
  }

  void Operate(int t, PmwcasThread* thread) {
    const std::vector<Operation>& operations = Scenarios()[oracle_->scenario].operations[t];
    for (uint64_t i = 0; i < operations.size(); ++i) {
      oracle_->started[t] = i + 1;
      std::vector<Pmwcas::Change> changes;
      for (const Change& change : operations[i].changes) {
        changes.push_back({words_.At(change.word), change.expected, change.desired});
      }
      if (changes.empty()) {
        oracle_->result[t][i] = thread->Read(words_.At(operations[i].read));
      } else {
        bool changed = false;
        CHECK(thread->Execute(changes.data(), static_cast<uint32_t>(changes.size()), &changed).ok());
        oracle_->result[t][i] = changed;
      }
      oracle_->reported[t] = i + 1;
    }
  }

  Simulator* const simulator_;
  Oracle* const oracle_;
  Words words_;
  PersistCounters counters_;
  Store store_;
  Stepper stepper_;
  std::string wrong_;
  uint64_t runs_ = 0;
};

class PmwcasOrderTest : public testing::TestWithParam<uint64_t> {};

TEST_P(PmwcasOrderTest, OperationsAreWholeAfterPowerFailuresInEveryOrder) {
  const ScratchDirectory scratch;
  Plan plan;
  plan.scratch = scratch.path();
  plan.start = scratch.path() + "/start";
  plan.seed = kSeed;
  plan.at_flushes = true;
  plan.random_images = 2;
  WordFile::Create(plan.start);
  const Report report = RunForked(kRunSecondsMax, [&](Report* shared) {
    Simulator* const simulator = Simulator::Start(plan, sizeof(Oracle), CheckImage, shared);
    ScheduleRun run(simulator, plan.LiveDirectory());
    const std::string wrong = run.AllSchedules(GetParam());
    printf("%" PRIu64 " schedules\n", run.runs());
    fflush(stdout);
    return wrong;
  });
  EXPECT_EQ(report.failures, 0u) << report.first_failure;
  EXPECT_TRUE(report.finished);
  EXPECT_EQ(report.strangers, 0u);
  const PhaseReport& last = report.phase[report.phases - 1];
  EXPECT_GE(last.distinct, 100u);
  printf("%" PRIu64 " instants, %" PRIu64 " images, %" PRIu64 " distinct\n", last.points, last.images,
         last.distinct);
}

INSTANTIATE_TEST_SUITE_P(All, PmwcasOrderTest, testing::Range<uint64_t>(0, Scenarios().size()));

}  // namespace
}  // namespace pmlsm::crash
