// Gets through many runs, with the routing of reads in DRAM and without, and what it may take.
#include <string>

#include "test/db/db_test_support.h"

namespace pmlsm {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr int kRuns = 40;

std::string Key(int i) { return "key" + std::to_string(i); }

class RoutingTest : public testing::Test {
 protected:
  RoutingTest() {
    options_ = TinyOptions();
    options_.disable_auto_compactions = true;
  }
  void Open() { ASSERT_OK(DB::Open(options_, dir_ / "db", &db_)); }
  // One that is not in other runs, and one that is in many. With others between them, so that each run's span
  // covers all keys.
  void FillRuns() {
    for (int run = 0; run < kRuns; ++run) {
      for (const int i : {0, 1000 + run, 2000 + run % 3, 9999}) {
        model_[Key(i)] = "run " + std::to_string(run);
        ASSERT_OK(db_->Put({}, Key(i), model_[Key(i)]));
      }
      if (run % 5 == 0) {
        ASSERT_OK(db_->Delete({}, Key(1000 + run / 2)));
        model_.erase(Key(1000 + run / 2));
      }
      ASSERT_OK(db_->Flush());
    }
    ASSERT_EQ(IntProperty(db_.get(), "pmlsm.num-runs-at-level0"), uint64_t{kRuns});
  }
  uint64_t RoutingBytes() { return IntProperty(db_.get(), "pmlsm.routing-bytes"); }

  TestDir dir_;
  Options options_;
  std::unique_ptr<DB> db_;
  Model model_;
};

TEST_F(RoutingTest, GetsGoThroughManyRuns) {
  for (const uint64_t budget : {uint64_t{0}, kMiB}) {
    SCOPED_TRACE("dram_budget_bytes = " + std::to_string(budget));
    options_.dram_budget_bytes = budget;
    ASSERT_NO_FATAL_FAILURE(Open());
    ASSERT_NO_FATAL_FAILURE(FillRuns());
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_, {"", "key", "key1", Key(500), Key(1999), "z"}));
    ASSERT_OK(db_->Close());
    db_.reset();
    ASSERT_OK(DestroyDB(dir_ / "db", options_));
    model_.clear();
  }
}

TEST_F(RoutingTest, TakesWhatTheBudgetLeaves) {
  ASSERT_NO_FATAL_FAILURE(Open());
  EXPECT_EQ(RoutingBytes(), 0u);
  ASSERT_NO_FATAL_FAILURE(FillRuns());
  const uint64_t all = RoutingBytes();
  EXPECT_GT(all, kRuns * 4 * uint64_t{5});
  ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
  EXPECT_LT(RoutingBytes(), all) << "that of the merged runs is given back";
  EXPECT_GT(RoutingBytes(), 0u);
}

TEST_F(RoutingTest, TakesNothingWhereMemtablesTakeAll) {
  options_.write_buffer_size = kMiB;
  options_.dram_budget_bytes = kMiB;
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_NO_FATAL_FAILURE(FillRuns());
  EXPECT_EQ(RoutingBytes(), 0u);
}

TEST_F(RoutingTest, IsMadeByGetsAfterReopening) {
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_NO_FATAL_FAILURE(FillRuns());
  const uint64_t all = RoutingBytes();
  ASSERT_OK(db_->Close());
  ASSERT_NO_FATAL_FAILURE(Open());
  EXPECT_EQ(RoutingBytes(), 0u);
  for (int round = 0; round < 200; ++round) ASSERT_TRUE(GetIs(db_.get(), {}, Key(1500), std::nullopt));
  EXPECT_EQ(RoutingBytes(), all);
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
}

}  // namespace
}  // namespace pmlsm
