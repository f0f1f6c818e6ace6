// CompactRange: what it promises inside its bounds, that it leaves the rest alone, and what runs beside it.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <sstream>
#include <thread>

#include "test/db/db_test_support.h"
#include "util/hooks.h"

namespace pmlsm {
namespace {

std::string Key(uint64_t i) {
  char key[16];
  snprintf(key, sizeof(key), "k%06d", static_cast<int>(i));
  return key;
}

class CompactRangeTest : public ::testing::Test {
 protected:
  CompactRangeTest() { options_ = TinyOptions(); }

  void Open() { ASSERT_OK(DB::Open(options_, dir_ / "db", &db_)); }
  // `runs` runs of the same keys.
  void FillRuns(int runs, int keys) {
    for (int run = 0; run < runs; ++run) {
      for (int i = 0; i < keys; ++i) {
        const std::string value(200, static_cast<char>('a' + run));
        ASSERT_OK(db_->Put({}, Key(i), value));
        model_[Key(i)] = value;
      }
      ASSERT_OK(db_->Flush());
    }
  }
  Status Compact(uint64_t begin, uint64_t end, bool exclusive = true) {
    CompactRangeOptions options;
    options.exclusive_manual_compaction = exclusive;
    const std::string first = Key(begin);
    const std::string last = Key(end);
    const Slice from(first);
    const Slice to(last);
    return db_->CompactRange(options, &from, &to);
  }
  uint64_t MergedBytes() {
    std::string text;
    CHECK(db_->GetProperty("pmlsm.pmem-counters", &text));
    std::istringstream lines(text.substr(text.find("merge ")));
    std::string name;
    uint64_t bytes = 0;
    CHECK(static_cast<bool>(lines >> name >> bytes));
    return bytes;
  }
  std::vector<uint64_t> Runs() {
    std::vector<uint64_t> runs;
    for (int level = 0; level < options_.num_levels; ++level) {
      runs.push_back(IntProperty(db_.get(), "pmlsm.num-runs-at-level" + std::to_string(level)));
    }
    return runs;
  }
  void ExpectSound() {
    std::string check;
    ASSERT_TRUE(db_->GetProperty("pmlsm.check", &check));
    EXPECT_EQ(check, "OK");
  }

  TestDir dir_;
  Options options_;
  std::unique_ptr<DB> db_;
  Model model_;
};

TEST_F(CompactRangeTest, OnlyTablesThatReachIntoTheRangeAreRewritten) {
  constexpr int kRuns = 4;
  constexpr int kKeys = 10000;
  options_.disable_auto_compactions = true;
  options_.max_pmem_bytes = uint64_t{1} << 30;  // memtables are at most a 64th
  options_.write_buffer_size = 8 << 20;
  options_.target_table_bytes = 64 << 10;
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_NO_FATAL_FAILURE(FillRuns(kRuns, kKeys));
  const uint64_t total = IntProperty(db_.get(), "pmlsm.total-run-bytes");
  const uint64_t entries = IntProperty(db_.get(), "pmlsm.estimate-num-keys");
  ASSERT_GT(total, uint64_t{4} << 20);
  ASSERT_EQ(entries, uint64_t{kRuns * kKeys});
  const uint64_t before = MergedBytes();

  constexpr int kInRange = 301;
  ASSERT_OK(Compact(5000, 5000 + kInRange - 1));
  // A run has at most two tables that reach into so few keys. They are copied, and the part inside is merged.
  EXPECT_LE(MergedBytes() - before, uint64_t{kRuns * 2 * 2} * options_.target_table_bytes);
  EXPECT_EQ(IntProperty(db_.get(), "pmlsm.estimate-num-keys"), entries - (kRuns - 1) * kInRange);
  EXPECT_EQ(Runs(), (std::vector<uint64_t>{kRuns, 1, 0, 0}));

  // Again: the output is joined with what is there, and nothing is left to do in the range.
  ASSERT_OK(Compact(7000, 7000 + kInRange - 1));
  EXPECT_EQ(Runs(), (std::vector<uint64_t>{kRuns, 1, 0, 0}));
  EXPECT_EQ(IntProperty(db_.get(), "pmlsm.estimate-num-keys"), entries - 2 * (kRuns - 1) * kInRange);
  const uint64_t after = MergedBytes();
  ASSERT_OK(Compact(7000, 7000 + kInRange - 1));
  EXPECT_EQ(MergedBytes(), after);
  ASSERT_NO_FATAL_FAILURE(ExpectSound());
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));

  ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
  EXPECT_EQ(Runs(), (std::vector<uint64_t>{0, 1, 0, 0}));
  EXPECT_EQ(IntProperty(db_.get(), "pmlsm.estimate-num-keys"), uint64_t{kKeys});
}

TEST_F(CompactRangeTest, BoundsAreInclusiveAndEitherMayBeOpen) {
  constexpr int kKeys = 500;
  options_.disable_auto_compactions = true;
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_NO_FATAL_FAILURE(FillRuns(2, kKeys));
  const auto entries = [&] { return IntProperty(db_.get(), "pmlsm.estimate-num-keys"); };
  uint64_t left = 2 * kKeys;
  ASSERT_EQ(entries(), left);
  ASSERT_OK(Compact(200, 200));
  EXPECT_EQ(entries(), left -= 1);
  const std::string first = Key(99);
  const Slice end(first);
  ASSERT_OK(db_->CompactRange({}, nullptr, &end));
  EXPECT_EQ(entries(), left -= 100);
  const std::string last = Key(450);
  const Slice begin(last);
  ASSERT_OK(db_->CompactRange({}, &begin, nullptr));
  EXPECT_EQ(entries(), left -= 50);
  ASSERT_NO_FATAL_FAILURE(ExpectSound());
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
}

TEST_F(CompactRangeTest, AReversedRangeIsRefusedBeforeAnythingChanges) {
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_OK(db_->Put({}, Key(1), "value"));
  const Status s = Compact(2, 1);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find(Slice(Key(2)).ToString(true)), std::string::npos) << s.ToString();
  EXPECT_NE(s.ToString().find(Slice(Key(1)).ToString(true)), std::string::npos) << s.ToString();
  EXPECT_EQ(IntProperty(db_.get(), "pmlsm.num-entries-active-mem-table"), 1u);
}

// CP-2, with bounds: what is deleted stays so, whatever runs beside it, in every shape.
TEST_F(CompactRangeTest, CP2_RandomRangesBesideAutomaticMergesLoseNothingAndBringNothingBack) {
  const uint64_t seed = SeedFromEnvironment("PMLSM_TEST_SEED", 1);
  printf("PMLSM_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  for (uint64_t round = 0; round < 8; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Random random(seed + round);
    options_.compaction_style = static_cast<CompactionStyle>(round % 3);
    options_.num_levels = 1 + static_cast<int>(random.Uniform(4));
    options_.max_background_jobs = 1 + static_cast<int>(random.Uniform(3));
    options_.write_buffer_size = 16 << 10;
    options_.target_table_bytes = 16 << 10;
    db_.reset();
    ASSERT_OK(DestroyDB(dir_ / "db", options_));
    model_.clear();
    ASSERT_NO_FATAL_FAILURE(Open());
    constexpr uint64_t kKeys = 2000;
    const Snapshot* snapshot = nullptr;
    Model seen;
    for (int step = 0; step < 6000; ++step) {
      const std::string key = Key(random.Uniform(kKeys));
      if (random.OneIn(3)) {
        ASSERT_OK(db_->Delete({}, key));
        model_.erase(key);
      } else {
        const std::string value = std::to_string(step) + std::string(100, 'v');
        ASSERT_OK(db_->Put({}, key, value));
        model_[key] = value;
      }
      if (step == 3000) snapshot = db_->GetSnapshot();
      if (step == 3000) seen = model_;
      if (!random.OneIn(150)) continue;
      const uint64_t begin = random.Uniform(kKeys);
      ASSERT_OK(Compact(begin, begin + random.Uniform(random.OneIn(2) ? 20 : kKeys), random.OneIn(2)));
      const std::string probe = Key(random.Uniform(kKeys));
      ASSERT_TRUE(GetIs(db_.get(), {}, probe, Find(model_, probe)));
    }
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
    ReadOptions at;
    at.snapshot = snapshot;
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), seen, {}, at));
    db_->ReleaseSnapshot(snapshot);
    ASSERT_NO_FATAL_FAILURE(ExpectSound());
    ASSERT_OK(db_->Close());
    // What cuts and joins left is right for every other shape, too.
    options_.compaction_style = static_cast<CompactionStyle>((round + 1) % 3);
    ASSERT_NO_FATAL_FAILURE(Open());
    ASSERT_OK(db_->WaitForCompact());
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
    ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
    EXPECT_EQ(IntProperty(db_.get(), "pmlsm.estimate-num-keys"), model_.size());
  }
}

// Holds the first merge step of a CompactRange, and counts those of others.
class HeldMerge : public HookListener {
 public:
  HeldMerge() { hooks.SetListener(this); }
  ~HeldMerge() override {
    Release();
    hooks.SetListener(nullptr);
  }
  void Reached(HookPoint point) override {
    if (point != HookPoint::kMergeStepPicked) return;
    std::unique_lock<std::mutex> lock(mutex_);
    if (steps_++ != 0) return;
    changed_.notify_all();
    changed_.wait(lock, [this] { return released_; });
  }
  void WaitUntilHeld() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return steps_ != 0; });
  }
  int steps() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return steps_;
  }
  void Release() {
    const std::lock_guard<std::mutex> lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int steps_ = 0;
  bool released_ = false;
};

TEST_F(CompactRangeTest, OthersMergeBesideItUnlessItIsExclusive) {
  if (!Hooks::kActive) GTEST_SKIP() << "a release build";
  for (const bool bounded : {false, true}) {
    for (const bool exclusive : {true, false}) {
      SCOPED_TRACE(std::string(exclusive ? "exclusive" : "beside others") + (bounded ? ", bounded" : ""));
      db_.reset();
      ASSERT_OK(DestroyDB(dir_ / "db", options_));
      model_.clear();
      ASSERT_NO_FATAL_FAILURE(Open());
      ASSERT_NO_FATAL_FAILURE(FillRuns(1, 200));
      HeldMerge held;
      std::thread manual([&] {
        CompactRangeOptions options;
        options.exclusive_manual_compaction = exclusive;
        CHECK((bounded ? Compact(10, 150, exclusive) : db_->CompactRange(options, nullptr, nullptr)).ok());
      });
      held.WaitUntilHeld();
      // Level 0 then has 2 slots left of 4.
      for (int run = 0; run < (bounded ? 0 : 1); ++run) ASSERT_NO_FATAL_FAILURE(FillRuns(1, 100));
      ASSERT_NO_FATAL_FAILURE(FillRuns(1, 100));
      if (exclusive) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        EXPECT_EQ(held.steps(), 1);
        EXPECT_EQ(IntProperty(db_.get(), "pmlsm.num-running-compactions"), 1u);
      } else {
        while (held.steps() < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      held.Release();
      manual.join();
      ASSERT_OK(db_->WaitForCompact());
      EXPECT_GE(held.steps(), 2) << "those that waited have come";
      ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
    }
  }
}

}  // namespace
}  // namespace pmlsm
