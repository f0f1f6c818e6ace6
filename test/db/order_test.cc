// Orders of events that are rare by themselves, brought about by holding a thread at a named instant.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "test/db/db_test_support.h"
#include "util/hooks.h"

namespace pmlsm {
namespace {

// Holds the first thread that reaches the point until Release.
class Hold : public HookListener {
 public:
  explicit Hold(HookPoint point) : point_(point) { hooks.SetListener(this); }
  ~Hold() override {
    Release();
    hooks.SetListener(nullptr);
  }
  void Reached(HookPoint point) override {
    if (point != point_ || taken_.exchange(true)) return;
    std::unique_lock<std::mutex> lock(mutex_);
    held_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return released_; });
  }
  void WaitUntilHeld() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return held_; });
  }
  void Release() {
    const std::lock_guard<std::mutex> lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }

 private:
  const HookPoint point_;
  std::atomic<bool> taken_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  bool released_ = false;
};

class OrderTest : public ::testing::TestWithParam<MemTableType> {
 protected:
  void SetUp() override {
    if (!Hooks::kActive) GTEST_SKIP() << "a release build";
    options_ = TinyOptions();
    options_.memtable = GetParam();
    ASSERT_OK(DB::Open(options_, dir_ / "db", &db_));
  }
  void Put(const std::string& key, const std::string& value) {
    ASSERT_OK(db_->Put({}, key, value));
    model_[key] = value;
  }
  void Fill(int keys, char fill) {
    for (int i = 0; i < keys; ++i) ASSERT_NO_FATAL_FAILURE(Put(std::to_string(i), std::string(900, fill)));
  }

  TestDir dir_;
  Options options_;
  std::unique_ptr<DB> db_;
  Model model_;
};

// What the view refers to stays, though every memtable and table of it is replaced and its space used again. The
// read shows the DB at one moment of those that passed while it was held.
TEST_P(OrderTest, AReadFinishesOnTheViewThatItTook) {
  constexpr int kKeys = 300;
  ASSERT_NO_FATAL_FAILURE(Fill(kKeys, 'a'));
  ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
  std::string seen(kKeys, ' ');  // of each key, what its value is full of
  Hold hold(HookPoint::kViewTaken);
  std::thread reader([&] {
    const std::unique_ptr<Iterator> it(db_->NewIterator({}));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      const char fill = it->value()[0];
      CHECK(it->value() == Slice(std::string(900, fill)));
      seen[std::stoi(it->key().ToString())] = fill;
    }
    CHECK(it->status().ok());
  });
  hold.WaitUntilHeld();
  for (const char fill : {'b', 'c', 'd', 'e'}) {
    ASSERT_NO_FATAL_FAILURE(Fill(kKeys, fill));
    ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
  }
  hold.Release();
  reader.join();
  const size_t overwritten = seen.find_first_not_of('b');
  EXPECT_LT(overwritten, 150u) << "the memtable of the view holds no more";
  EXPECT_EQ(seen, std::string(overwritten, 'b') + std::string(kKeys - overwritten, 'a'));
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
}

TEST_P(OrderTest, WritersSlowDownInTheLastMemtableUntilItsFlushIsDone) {
  const auto rate = [this] {
    uint64_t bytes_per_second = 0;
    EXPECT_TRUE(db_->GetIntProperty("pmlsm.actual-delayed-write-rate", &bytes_per_second));
    return bytes_per_second;
  };
  const auto stall_micros = [this] {
    uint64_t micros = 0;
    EXPECT_TRUE(db_->GetIntProperty("pmlsm.write-stall-micros", &micros));
    return micros;
  };
  ASSERT_NO_FATAL_FAILURE(Put("first", "value"));
  ASSERT_OK(db_->Flush());  // whose speed is then known
  EXPECT_EQ(rate(), 0u);
  Hold hold(HookPoint::kFlushPicked);
  // The memtables but the last one: at full speed.
  for (int i = 0; rate() == 0 && i < 300; ++i)
    ASSERT_NO_FATAL_FAILURE(Put(std::to_string(i), std::string(900, 'a')));
  hold.WaitUntilHeld();
  uint64_t frozen = 0;
  ASSERT_TRUE(db_->GetIntProperty("pmlsm.num-immutable-mem-table", &frozen));
  EXPECT_EQ(frozen, static_cast<uint64_t>(options_.max_write_buffer_number - 1));
  EXPECT_GT(rate(), 0u);
  EXPECT_EQ(stall_micros(), 0u);
  // The last one, as good as full: in pauses. (On a busy machine writes are so slow that they need none for long.)
  uint64_t active = 0;
  for (int i = 0; stall_micros() == 0 && active < options_.write_buffer_size * 31 / 32 && i < 600; ++i) {
    ASSERT_NO_FATAL_FAILURE(Put(std::to_string(i), std::string(100, 'b')));
    ASSERT_TRUE(db_->GetIntProperty("pmlsm.cur-size-active-mem-table", &active));
  }
  // So small a hash memtable is filled by one step of its index.
  if (GetParam() == MemTableType::kSorted) {
    EXPECT_GT(stall_micros(), 0u);
  }
  hold.Release();
  ASSERT_OK(db_->Flush());
  ASSERT_OK(db_->WaitForCompact());
  EXPECT_EQ(rate(), 0u);
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
}

TEST_P(OrderTest, StatisticsAndDebtShowWhatAMergeReads) {
  Hold hold(HookPoint::kMergeStepPicked);
  for (int run = 0; run < options_.size_ratio; ++run) {
    ASSERT_NO_FATAL_FAILURE(Put("key", std::to_string(run)));
    ASSERT_OK(db_->Flush());
  }
  hold.WaitUntilHeld();
  std::string stats;
  ASSERT_TRUE(db_->GetProperty("pmlsm.stats", &stats));
  EXPECT_NE(stats.find("\n  L0      2/2 "), std::string::npos) << stats;
  uint64_t debt = 0, bytes = 0;
  ASSERT_TRUE(db_->GetIntProperty("pmlsm.estimate-pending-compaction-bytes", &debt));
  ASSERT_TRUE(db_->GetIntProperty("pmlsm.total-run-bytes", &bytes));
  EXPECT_EQ(debt, bytes);
  EXPECT_GT(debt, 0u);
  hold.Release();
  ASSERT_OK(db_->WaitForCompact());
  ASSERT_TRUE(db_->GetIntProperty("pmlsm.estimate-pending-compaction-bytes", &debt));
  EXPECT_EQ(debt, 0u);
}

TEST_P(OrderTest, WritersWaitForAFlushThatHangsAndGoOn) {
  Hold hold(HookPoint::kFlushPicked);
  std::atomic<int> written{0};
  std::thread writer([&] {
    for (int i = 0; i < 1000; ++i) {
      CHECK(db_->Put({}, std::to_string(i % 300), std::string(900, 'a' + i / 300)).ok());
      ++written;
    }
  });
  hold.WaitUntilHeld();
  // The memtables fill up; reads go on.
  for (int last = -1; last != written.load();) {
    last = written.load();
    std::string value;
    EXPECT_TRUE(db_->Get({}, "0", &value).ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_LT(written.load(), 1000);
  EXPECT_GT(written.load(), 150) << "four memtables of 64 KiB";
  hold.Release();
  writer.join();
  for (int i = 0; i < 1000; ++i) model_[std::to_string(i % 300)] = std::string(900, 'a' + i / 300);
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
}

TEST_P(OrderTest, ASnapshotThatAMergeDoesNotKnowKeepsItsVersions) {
  for (const HookPoint point : {HookPoint::kMergeStepPicked, HookPoint::kMergeStepWritten}) {
    ASSERT_NO_FATAL_FAILURE(Fill(100, 'a'));
    ASSERT_OK(db_->Flush());
    ASSERT_NO_FATAL_FAILURE(Fill(100, 'b'));
    Hold hold(point);
    std::thread merger([&] { CHECK(db_->CompactRange({}, nullptr, nullptr).ok()); });
    hold.WaitUntilHeld();
    ReadOptions at;
    at.snapshot = db_->GetSnapshot();
    ASSERT_OK(db_->Delete({}, "7"));
    hold.Release();
    merger.join();
    ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
    EXPECT_TRUE(GetIs(db_.get(), at, "7", std::string(900, 'b')));
    EXPECT_TRUE(GetIs(db_.get(), {}, "7", std::nullopt));
    db_->ReleaseSnapshot(at.snapshot);
    ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
    EXPECT_TRUE(GetIs(db_.get(), {}, "7", std::nullopt));
  }
}

TEST_P(OrderTest, CloseWaitsForTheFlushAtHand) {
  ASSERT_NO_FATAL_FAILURE(Fill(10, 'a'));
  Hold hold(HookPoint::kFlushWritten);
  std::atomic<bool> closed{false};
  std::thread closer([&] {
    CHECK(db_->Close().ok());
    closed = true;
  });
  hold.WaitUntilHeld();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(closed);
  hold.Release();
  closer.join();
  db_.reset();
  ASSERT_OK(DB::Open(options_, dir_ / "db", &db_));
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
}

// Copies the DB the first time each point is reached, as a kill would leave it.
class Copies : public HookListener {
 public:
  Copies(const std::string& from, const std::string& to) : from_(from), to_(to) { hooks.SetListener(this); }
  ~Copies() override { hooks.SetListener(nullptr); }
  void Reached(HookPoint point) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (point == HookPoint::kViewTaken || !points_.insert(point).second) return;
    CopyTree(from_, to_ + std::to_string(static_cast<int>(point)));
  }
  const std::set<HookPoint>& points() const { return points_; }

 private:
  const std::string from_;
  const std::string to_;
  std::mutex mutex_;
  std::set<HookPoint> points_;
};

TEST_P(OrderTest, AKillAtAnyPointLosesNothing) {
  ASSERT_NO_FATAL_FAILURE(Fill(100, 'a'));
  ASSERT_OK(db_->Flush());
  ASSERT_NO_FATAL_FAILURE(Fill(50, 'b'));
  db_.reset();
  std::set<HookPoint> points;
  {
    Copies copies(dir_ / "db", dir_ / "copy");
    ASSERT_OK(DB::Open(options_, dir_ / "db", &db_));
    ASSERT_OK(db_->Put({}, "0", std::string(900, 'b')));  // as it is: whichever copy, the content is the same
    ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
    ASSERT_OK(db_->Close());
    points = copies.points();
  }
  db_.reset();
  EXPECT_EQ(points.size(), 7u) << "every point but that of reads";
  for (const HookPoint point : points) {
    SCOPED_TRACE("point " + std::to_string(static_cast<int>(point)));
    std::unique_ptr<DB> copy;
    ASSERT_OK(DB::Open(options_, dir_ / ("copy" + std::to_string(static_cast<int>(point))), &copy));
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(copy.get(), model_));
    std::string check;
    ASSERT_TRUE(copy->GetProperty("pmlsm.check", &check));
    EXPECT_EQ(check, "OK");
  }
}

// Free space is in small pieces: the batch is logged in parts. A kill after a recovery has published and before it
// has flushed needs all of them again.
TEST_P(OrderTest, ABatchInPartsSurvivesAKillInRecovery) {
  class SmallSpans : public Copies {
   public:
    using Copies::Copies;
    uint64_t LargestSpan() override { return 48 << 10; }
  };
  {
    SmallSpans small(dir_ / "db", dir_ / "unused");
    WriteBatch batch;
    for (int i = 0; i < 150; ++i) {
      const std::string key = std::to_string(i);
      ASSERT_OK(batch.Put(key, std::string(1000, 'b')));
      model_[key] = std::string(1000, 'b');
    }
    ASSERT_NO_FATAL_FAILURE(Put("before", "1"));
    ASSERT_OK(db_->Write({}, &batch));
    CopyTree(dir_ / "db", dir_ / "killed");
    ASSERT_OK(db_->Close());
  }
  SmallSpans small(dir_ / "killed", dir_ / "copy");
  std::unique_ptr<DB> copy;
  ASSERT_OK(DB::Open(options_, dir_ / "killed", &copy));
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(copy.get(), model_));
  ASSERT_OK(copy->Close());
  copy.reset();
  for (const HookPoint point : {HookPoint::kRecoveryPublished, HookPoint::kFlushPicked,
                                HookPoint::kFlushWritten, HookPoint::kPublished, HookPoint::kLogRetired}) {
    SCOPED_TRACE("point " + std::to_string(static_cast<int>(point)));
    ASSERT_EQ(small.points().count(point), 1u);
    ASSERT_OK(DB::Open(options_, dir_ / ("copy" + std::to_string(static_cast<int>(point))), &copy));
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(copy.get(), model_));
    ASSERT_OK(copy->Close());
    copy.reset();
  }
}

INSTANTIATE_TEST_SUITE_P(Memtables, OrderTest, ::testing::Values(MemTableType::kSorted, MemTableType::kHash),
                         [](const auto& info) { return std::string(ToString(info.param)); });

}  // namespace
}  // namespace pmlsm
