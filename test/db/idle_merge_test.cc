// What a DB does for space when nothing else is to be done.
#include <chrono>
#include <string>
#include <thread>

#include "test/db/db_test_support.h"

namespace pmlsm {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kKeys = 1000;

class IdleMergeTest : public testing::TestWithParam<int> {
 protected:
  IdleMergeTest() {
    options_ = TinyOptions();
    options_.write_buffer_size = 1 << 20;
    options_.size_ratio = 8;
    options_.max_background_jobs = GetParam();
  }
  void Open() { ASSERT_OK(DB::Open(options_, dir_ / "db", &db_)); }
  // A run of the keys from `first` on.
  void AddRun(int first, char fill) {
    for (int i = first; i < first + kKeys; ++i) {
      const std::string key = "key" + std::to_string(i);
      model_[key] = std::string(100, fill);
      ASSERT_OK(db_->Put({}, key, model_[key]));
    }
    ASSERT_OK(db_->Flush());
  }
  uint64_t Runs() {
    uint64_t runs = 0;
    for (int level = 0; level < options_.num_levels; ++level) {
      runs += IntProperty(db_.get(), "pmlsm.num-runs-at-level" + std::to_string(level));
    }
    return runs;
  }
  bool BecomesOneRun(milliseconds within) {
    const auto end = steady_clock::now() + within;
    while (Runs() != 1 && steady_clock::now() < end) std::this_thread::sleep_for(milliseconds(20));
    return Runs() == 1;
  }

  TestDir dir_;
  Options options_;
  std::unique_ptr<DB> db_;
  Model model_;
};

TEST_P(IdleMergeTest, MergesWhatIsMostlyHidden) {
  ASSERT_NO_FATAL_FAILURE(Open());
  for (const char fill : {'a', 'b', 'c', 'd'}) ASSERT_NO_FATAL_FAILURE(AddRun(0, fill));
  ASSERT_OK(db_->WaitForCompact());
  ASSERT_EQ(Runs(), 4u) << "no level is full, and WaitForCompact does not wait for idleness";
  EXPECT_TRUE(BecomesOneRun(milliseconds(20000)));
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
}

// 3 of 4 entries are hidden: 300 percent.
TEST_P(IdleMergeTest, LeavesWhatIsBelowTheTarget) {
  options_.max_size_amplification_percent = 400;
  ASSERT_NO_FATAL_FAILURE(Open());
  for (const char fill : {'a', 'b', 'c', 'd'}) ASSERT_NO_FATAL_FAILURE(AddRun(0, fill));
  EXPECT_FALSE(BecomesOneRun(milliseconds(2500)));
  EXPECT_EQ(Runs(), 4u);
}

TEST_P(IdleMergeTest, LeavesRunsOfDifferentKeys) {
  ASSERT_NO_FATAL_FAILURE(Open());
  for (const int first : {0, 1, 2, 3}) ASSERT_NO_FATAL_FAILURE(AddRun(first * kKeys, 'v'));
  EXPECT_FALSE(BecomesOneRun(milliseconds(2500)));
  EXPECT_EQ(Runs(), 4u);
}

TEST_P(IdleMergeTest, WaitsUntilNobodyWrites) {
  ASSERT_NO_FATAL_FAILURE(Open());
  for (const char fill : {'a', 'b', 'c', 'd'}) ASSERT_NO_FATAL_FAILURE(AddRun(0, fill));
  const auto end = steady_clock::now() + milliseconds(3000);
  for (uint64_t i = 0; steady_clock::now() < end; ++i) {
    model_["now"] = std::to_string(i);
    ASSERT_OK(db_->Put({}, "now", model_["now"]));
    std::this_thread::sleep_for(milliseconds(50));
  }
  EXPECT_EQ(Runs(), 4u);
  EXPECT_TRUE(BecomesOneRun(milliseconds(20000)));
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
}

TEST_P(IdleMergeTest, NeitherWithoutAutomaticMergesNorWhilePaused) {
  options_.disable_auto_compactions = true;
  ASSERT_NO_FATAL_FAILURE(Open());
  for (const char fill : {'a', 'b', 'c', 'd'}) ASSERT_NO_FATAL_FAILURE(AddRun(0, fill));
  EXPECT_FALSE(BecomesOneRun(milliseconds(1500)));
  ASSERT_OK(db_->Close());
  options_.disable_auto_compactions = false;
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_OK(db_->PauseBackgroundWork());
  EXPECT_FALSE(BecomesOneRun(milliseconds(1500)));
  ASSERT_OK(db_->ContinueBackgroundWork());
  EXPECT_TRUE(BecomesOneRun(milliseconds(20000)));
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
}

INSTANTIATE_TEST_SUITE_P(Threads, IdleMergeTest, ::testing::Values(1, 2, 4),
                         [](const auto& info) { return "jobs" + std::to_string(info.param); });

}  // namespace
}  // namespace pmlsm
