// Deletions that lie dense: a queue's head, and what was deleted after it had been merged. The cost of a scan is
// counted in entries that it has to step over.
#include <algorithm>
#include <string>

#include "test/db/db_test_support.h"

namespace pmlsm {
namespace {

std::string Key(int i) { return "queue" + std::to_string(1000000000 + i); }

class QueueTest : public testing::TestWithParam<CompactionStyle> {
 protected:
  void SetUp() override {
    options_ = TinyOptions();
    options_.write_buffer_size = 1 << 20;
    options_.compaction_style = GetParam();
    ASSERT_OK(DB::Open(options_, dir_ / "db", &db_));
  }
  uint64_t Number(const char* property) {
    uint64_t value = 0;
    EXPECT_TRUE(db_->GetIntProperty(property, &value)) << property;
    return value;
  }
  // Entries stepped over by a scan of the first ten, which must be those from `head` on.
  uint64_t ScanHead(int head) {
    const uint64_t before = Number("pmlsm.entries-skipped-by-scans");
    {
      const std::unique_ptr<Iterator> it(db_->NewIterator({}));
      it->SeekToFirst();
      for (int i = 0; i < 10; ++i, it->Next()) {
        EXPECT_TRUE(it->Valid()) << it->status().ToString();
        if (!it->Valid()) break;
        EXPECT_EQ(it->key().ToString(), Key(head + i));
      }
    }
    return Number("pmlsm.entries-skipped-by-scans") - before;
  }

  TestDir dir_;
  Options options_;
  std::unique_ptr<DB> db_;
};

TEST_P(QueueTest, TheCostOfAScanAtTheHeadOfAQueueStaysFlat) {
  constexpr int kLength = 1000;
  constexpr int kWindow = 1000;
  constexpr int kWindows = 16;
  int tail = 0;
  for (; tail < kLength; ++tail) ASSERT_OK(db_->Put({}, Key(tail), std::string(100, 'v')));
  uint64_t first_windows = 0;
  uint64_t worst = 0;
  for (int window = 0; window < kWindows; ++window) {
    uint64_t skipped = 0;
    for (int i = 0; i < kWindow; ++i, ++tail) {
      ASSERT_OK(db_->Put({}, Key(tail), std::string(100, 'v')));
      ASSERT_OK(db_->Delete({}, Key(tail - kLength)));
      const uint64_t now = ScanHead(tail - kLength + 1);
      skipped += now;
      worst = std::max(worst, now);
    }
    if (window < 4) first_windows = std::max(first_windows, skipped);
    EXPECT_LE(skipped, 2 * first_windows) << "window " << window;
  }
  EXPECT_LE(first_windows / kWindow, 4000u);
  printf("entries stepped over by a scan: %d on average at most in the first windows, %d at most\n",
         static_cast<int>(first_windows / kWindow), static_cast<int>(worst));
}

// The queue lay in runs of all levels when its entries were taken.
TEST_P(QueueTest, WhatWasDrainedIsMergedAwayWithoutBeingAskedFor) {
  constexpr int kKeys = 40000;
  for (int i = 0; i < kKeys; ++i) ASSERT_OK(db_->Put({}, Key(i), std::string(100, 'v')));
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->WaitForCompact());
  for (int i = 0; i < kKeys - 10; ++i) ASSERT_OK(db_->Delete({}, Key(i)));
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->WaitForCompact());
  EXPECT_LE(ScanHead(kKeys - 10), 10000u);
  EXPECT_LE(Number("pmlsm.estimate-num-keys"), 10000u);
}

// A merge that a snapshot keeps from dropping anything is not repeated for ever, and made up for later.
TEST_P(QueueTest, ASnapshotHoldsUpTheMergeUntilItGoes) {
  constexpr int kKeys = 40000;
  for (int i = 0; i < kKeys; ++i) ASSERT_OK(db_->Put({}, Key(i), std::string(100, 'v')));
  const Snapshot* const snapshot = db_->GetSnapshot();
  for (int i = 0; i < kKeys; ++i) ASSERT_OK(db_->Delete({}, Key(i)));
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->WaitForCompact());
  ReadOptions at_snapshot;
  at_snapshot.snapshot = snapshot;
  for (int i = 0; i < kKeys; i += 100) {
    std::string value;
    ASSERT_OK(db_->Get(at_snapshot, Key(i), &value));
  }
  db_->ReleaseSnapshot(snapshot);
  ASSERT_OK(db_->WaitForCompact());
  EXPECT_LE(Number("pmlsm.estimate-num-keys"), 10000u);
}

INSTANTIATE_TEST_SUITE_P(Styles, QueueTest,
                         testing::Values(CompactionStyle::kTiered, CompactionStyle::kLeveled,
                                         CompactionStyle::kLazyLeveled),
                         [](const auto& style) { return std::string(ToString(style.param)); });

}  // namespace
}  // namespace pmlsm
