// The automatic choice of how to merge, against every choice that can be set: all lines that reach libpmem during
// the merges of a DB, libpmemobj's log included. Exact counts, so the bound holds on any machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>

#include "pmlsm/db.h"
#include "test/crash/forked_run.h"
#include "test/crash/hooks.h"
#include "test/crash/lines.h"

namespace pmlsm::crash {
namespace {

constexpr double kBound = 1.05;
constexpr int kRuns = 4;
constexpr int kRunEntries = 1000;
constexpr int kMerges = 2;

// Lines flushed by all threads since it was made.
class LineCounter : public Hooks {
 public:
  LineCounter() { SetHooks(this); }
  ~LineCounter() override { SetHooks(nullptr); }

  void Flush(const void* from, size_t bytes) override {
    if (bytes == 0) return;
    const uintptr_t first = reinterpret_cast<uintptr_t>(from) / kLineBytes;
    lines_ += (reinterpret_cast<uintptr_t>(from) + bytes - 1) / kLineBytes - first + 1;
  }
  uint64_t lines() const { return lines_; }

 private:
  std::atomic<uint64_t> lines_{0};
};

// Of a run's keys, the first `shared` are in all runs; the others are in no other.
std::string Key(int run, int i, int shared) {
  return std::to_string(i) + (i < shared ? "-in-all" : "-in-run-" + std::to_string(run));
}

// Lines of the merges alone.
uint64_t MergeLines(FailureAtomicity atomicity, int duplicates_percent, MergeOrder order,
                    MergeDestination destination) {
  const ScratchDirectory scratch;
  const LineCounter counter;
  Options options;
  options.create_if_missing = true;
  options.failure_atomicity = atomicity;
  options.max_pmem_bytes = 64 << 20;
  options.write_buffer_size = 1 << 20;
  options.target_table_bytes = 256 << 10;
  options.disable_auto_compactions = true;
  options.merge_order = order;
  options.merge_destination = destination;
  std::unique_ptr<DB> db;
  EXPECT_TRUE(DB::Open(options, scratch.path() + "/db", &db).ok());
  const std::string value(100, 'v');
  const int shared = kRunEntries * duplicates_percent / 100;
  uint64_t lines = 0;
  for (int merge = 0; merge < kMerges; ++merge) {
    for (int run = 0; run < kRuns; ++run) {
      for (int i = 0; i < kRunEntries; ++i) {
        EXPECT_TRUE(db->Put({}, Key(merge * kRuns + run, i, shared), value).ok());
      }
      EXPECT_TRUE(db->Flush({}).ok());
    }
    const uint64_t before = counter.lines();
    EXPECT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
    lines += counter.lines() - before;
  }
  EXPECT_TRUE(db->Close().ok());
  return lines;
}

class MergeChoiceTest : public testing::TestWithParam<FailureAtomicity> {};

TEST_P(MergeChoiceTest, TheAutomaticOneWritesHardlyMoreLinesThanTheBest) {
  for (const int duplicates : {0, 50, 100}) {
    uint64_t best = UINT64_MAX;
    uint64_t worst = 0;
    for (const auto order : {MergeOrder::k2Way, MergeOrder::kKWay}) {
      for (const auto destination : {MergeDestination::kDirect, MergeDestination::kBuffered}) {
        const uint64_t lines = MergeLines(GetParam(), duplicates, order, destination);
        best = std::min(best, lines);
        worst = std::max(worst, lines);
      }
    }
    const uint64_t chosen = MergeLines(GetParam(), duplicates, MergeOrder::kAuto, MergeDestination::kAuto);
    EXPECT_LE(static_cast<double>(chosen), kBound * static_cast<double>(best))
        << duplicates << " % duplicates";
    // Else the bound would hold of any choice.
    if (GetParam() == FailureAtomicity::kTransaction && duplicates == 100) {
      EXPECT_GT(static_cast<double>(worst), kBound * static_cast<double>(best));
    }
    printf("%s, %d %% duplicates: %" PRIu64 " lines chosen, %" PRIu64 " to %" PRIu64 " fixed\n",
           ToString(GetParam()), duplicates, chosen, best, worst);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, MergeChoiceTest,
                         testing::Values(FailureAtomicity::kTransaction, FailureAtomicity::kIndividual,
                                         FailureAtomicity::kAtomic),
                         [](const auto& info) { return std::string(ToString(info.param)); });

}  // namespace
}  // namespace pmlsm::crash
