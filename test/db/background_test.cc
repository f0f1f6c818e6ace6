// Background work under orders: pauses, a lone thread that flushes first, a Close that does not wait for merges.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "test/db/db_test_support.h"
#include "util/hooks.h"

namespace pmlsm {
namespace {

using std::chrono::milliseconds;

// Notes what flushes and merges do, slows merge steps, and holds one of them.
class Watch : public HookListener {
 public:
  Watch() { hooks.SetListener(this); }
  ~Watch() override {
    Release();
    hooks.SetListener(nullptr);
  }
  void Reached(HookPoint point) override {
    std::unique_lock<std::mutex> lock(mutex_);
    if (point == HookPoint::kFlushPicked) events_ += 'f';
    if (point != HookPoint::kMergeStepPicked) return;
    events_ += 'm';
    changed_.notify_all();
    changed_.wait(lock, [this] { return !hold_; });
    const milliseconds pause = step_pause_;
    lock.unlock();
    std::this_thread::sleep_for(pause);
  }
  void HoldSteps() {
    const std::lock_guard<std::mutex> lock(mutex_);
    hold_ = true;
  }
  void SlowSteps(milliseconds pause) {
    const std::lock_guard<std::mutex> lock(mutex_);
    step_pause_ = pause;
  }
  void WaitForStep() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return events_.find('m') != std::string::npos; });
  }
  void Release() {
    const std::lock_guard<std::mutex> lock(mutex_);
    hold_ = false;
    changed_.notify_all();
  }
  std::string events() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return events_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string events_;
  bool hold_ = false;
  milliseconds step_pause_{0};
};

class BackgroundTest : public ::testing::TestWithParam<int> {
 protected:
  BackgroundTest() {
    options_ = TinyOptions();
    options_.max_background_jobs = GetParam();
  }
  void Open() { ASSERT_OK(DB::Open(options_, dir_ / "db", &db_)); }
  void Put(int i, char fill) {
    const std::string value(1000, fill);
    ASSERT_OK(db_->Put({}, std::to_string(i), value));
    model_[std::to_string(i)] = value;
  }
  // Leaves 40 runs, whose merge takes several steps, and opens the DB anew: the merge is due.
  void OpenWithAMergeDue() {
    const Options options = options_;
    options_.disable_auto_compactions = true;
    options_.write_buffer_size = 1 << 20;
    ASSERT_NO_FATAL_FAILURE(Open());
    for (int i = 0; i < 10000; ++i) {
      ASSERT_NO_FATAL_FAILURE(Put(i % 6000, static_cast<char>('a' + i / 6000)));
      if (i % 250 == 249) ASSERT_OK(db_->Flush());
    }
    ASSERT_OK(db_->Close());
    db_.reset();
    options_ = options;
    ASSERT_NO_FATAL_FAILURE(Open());
  }

  TestDir dir_;
  Options options_;
  std::unique_ptr<DB> db_;
  Model model_;
};

TEST_P(BackgroundTest, APauseWaitsForTheStepAtHandAndHoldsUpTheNext) {
  if (!Hooks::kActive) GTEST_SKIP() << "a release build";
  Watch watch;
  watch.HoldSteps();
  ASSERT_NO_FATAL_FAILURE(OpenWithAMergeDue());
  watch.WaitForStep();
  std::atomic<bool> paused{false};
  std::thread pauser([&] {
    CHECK(db_->PauseBackgroundWork().ok());
    paused = true;
  });
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_FALSE(paused) << "a step is at work";
  watch.Release();
  pauser.join();
  ASSERT_OK(db_->PauseBackgroundWork());
  const std::string events = watch.events();
  EXPECT_TRUE(db_->WaitForCompact().IsAborted());
  ASSERT_OK(db_->ContinueBackgroundWork());
  EXPECT_TRUE(db_->WaitForCompact().IsAborted()) << "one of two pauses goes on";
  ASSERT_NO_FATAL_FAILURE(Put(1, 'z'));
  ASSERT_OK(db_->Flush({/*wait=*/false}));
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(watch.events(), events) << "neither flush nor merge";
  EXPECT_EQ(IntProperty(db_.get(), "pmlsm.num-running-compactions"), 1u) << "it has stopped half way";
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
  ASSERT_OK(db_->ContinueBackgroundWork());
  ASSERT_OK(db_->WaitForCompact());
  EXPECT_GT(watch.events().size(), events.size());
  EXPECT_EQ(IntProperty(db_.get(), "pmlsm.num-immutable-mem-table"), 0u);
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
}

TEST_P(BackgroundTest, ContinueWithoutAPauseIsRefused) {
  ASSERT_NO_FATAL_FAILURE(Open());
  EXPECT_TRUE(db_->ContinueBackgroundWork().IsInvalidArgument());
  ASSERT_OK(db_->PauseBackgroundWork());
  EXPECT_OK(db_->WaitForCompact());  // nothing is to be done
  ASSERT_OK(db_->ContinueBackgroundWork());
  EXPECT_TRUE(db_->ContinueBackgroundWork().IsInvalidArgument());
  ASSERT_OK(db_->Close());
  EXPECT_TRUE(db_->PauseBackgroundWork().IsAborted());
  EXPECT_TRUE(db_->ContinueBackgroundWork().IsAborted());
}

TEST_P(BackgroundTest, WritersWaitOnlyOnceAllMemtablesAreFull) {
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_OK(db_->PauseBackgroundWork());
  constexpr int kPuts = 1000;
  std::atomic<int> written{0};
  std::thread writer([&] {
    for (int i = 0; i < kPuts; ++i) {
      CHECK(db_->Put({}, std::to_string(i), std::string(1000, 'a')).ok());
      ++written;
    }
  });
  for (int last = -1; last != written.load();) {
    last = written.load();
    std::this_thread::sleep_for(milliseconds(100));
  }
  EXPECT_GT(written.load(), 3 * 60) << "four memtables of 64 KiB";
  EXPECT_LT(written.load(), 5 * 64);
  ASSERT_OK(db_->ContinueBackgroundWork());
  writer.join();
  for (int i = 0; i < kPuts; ++i) model_[std::to_string(i)] = std::string(1000, 'a');
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
}

TEST_P(BackgroundTest, CloseEndsAPause) {
  if (!Hooks::kActive) GTEST_SKIP() << "a release build";
  for (const bool by_destructor : {false, true}) {
    model_.clear();
    ASSERT_OK(DestroyDB(dir_ / "db", options_));
    Watch watch;
    watch.SlowSteps(milliseconds(20));
    ASSERT_NO_FATAL_FAILURE(OpenWithAMergeDue());
    watch.WaitForStep();
    ASSERT_OK(db_->PauseBackgroundWork());
    for (int i = 0; i < 100; ++i) ASSERT_NO_FATAL_FAILURE(Put(i, 'p'));
    if (!by_destructor) ASSERT_OK(db_->Close());
    db_.reset();
    ASSERT_NO_FATAL_FAILURE(Open());
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
    ASSERT_OK(db_->WaitForCompact());
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
    db_.reset();
  }
}

// By whatever thread: one in the background, or the caller of CompactRange, alone or not. With memtables to flush,
// and no slot left in level 0 for their run.
TEST_P(BackgroundTest, CloseCutsALargeMergeShort) {
  if (!Hooks::kActive) GTEST_SKIP() << "a release build";
  constexpr milliseconds kStep(100);
  for (const int by : {0, 1, 2}) {
    SCOPED_TRACE(by == 0 ? "background" : by == 1 ? "exclusive" : "beside others");
    model_.clear();
    ASSERT_OK(DestroyDB(dir_ / "db", options_));
    Watch watch;
    watch.SlowSteps(kStep);
    watch.HoldSteps();
    ASSERT_NO_FATAL_FAILURE(OpenWithAMergeDue());
    std::thread manual;
    if (by != 0) {
      manual = std::thread([&] {
        CompactRangeOptions options;
        options.exclusive_manual_compaction = by == 1;
        CHECK(db_->CompactRange(options, nullptr, nullptr).IsShutdownInProgress());
      });
    }
    watch.WaitForStep();
    for (int i = 0; i < 150; ++i) ASSERT_NO_FATAL_FAILURE(Put(i, 'q'));
    ASSERT_GT(IntProperty(db_.get(), "pmlsm.num-runs-at-level0"), 4u) << "all slots are taken";
    watch.Release();
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_OK(db_->Close());
    const auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(took, std::chrono::seconds(1));
    if (manual.joinable()) manual.join();
    db_.reset();
    const std::string events = watch.events();
    watch.SlowSteps(milliseconds(0));
    ASSERT_NO_FATAL_FAILURE(Open());
    EXPECT_EQ(IntProperty(db_.get(), "pmlsm.num-entries-active-mem-table") +
                  IntProperty(db_.get(), "pmlsm.num-immutable-mem-table"),
              0u)
        << "all was flushed";
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
    ASSERT_OK(db_->WaitForCompact());
    EXPECT_GT(watch.events().size(), events.size()) << "the merge goes on";
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
    std::string check;
    ASSERT_TRUE(db_->GetProperty("pmlsm.check", &check));
    EXPECT_EQ(check, "OK");
    ASSERT_OK(db_->Close());
    db_.reset();
  }
}

// A lone thread's, between two steps of a merge; that of two does not even wait for the first.
TEST_P(BackgroundTest, AFlushWaitsForOneStepOfAMergeAtMost) {
  if (!Hooks::kActive) GTEST_SKIP() << "a release build";
  options_.size_ratio = 32;  // slots of level 0 are not what a flush waits for
  Watch watch;
  watch.HoldSteps();
  ASSERT_NO_FATAL_FAILURE(OpenWithAMergeDue());
  watch.WaitForStep();
  const size_t before = watch.events().size();
  ASSERT_NO_FATAL_FAILURE(Put(0, 'f'));
  if (GetParam() == 1) {
    ASSERT_OK(db_->Flush({/*wait=*/false}));
    watch.Release();
    ASSERT_OK(db_->WaitForCompact());
    ASSERT_GT(watch.events().size(), before + 1) << "several steps";
  } else {
    ASSERT_OK(db_->Flush());
  }
  EXPECT_EQ(watch.events()[before], 'f') << watch.events();
  watch.Release();
  ASSERT_OK(db_->WaitForCompact());
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
}

INSTANTIATE_TEST_SUITE_P(Threads, BackgroundTest, ::testing::Values(1, 2, 4),
                         [](const auto& info) { return "jobs" + std::to_string(info.param); });

}  // namespace
}  // namespace pmlsm
