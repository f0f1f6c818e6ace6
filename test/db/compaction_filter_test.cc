// Compaction filters in a DB: what they remove and change, and whom it may not touch.
#include "pmlsm/compaction_filter.h"

#include <functional>
#include <string>

#include "test/db/db_test_support.h"

namespace pmlsm {
namespace {

constexpr int kKeys = 2000;

std::string Key(int i) { return "key" + std::to_string(100000 + i); }

// Values that begin with "old" go, "raw" becomes "done".
class AgeFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "age"; }
  bool Filter(int level, const Slice& key, const Slice& value, std::string* new_value,
              bool* value_changed) const override {
    if (when_asked) when_asked();
    *value_changed = value.starts_with("raw");
    if (*value_changed) *new_value = too_large ? std::string(kMaxValueBytes + 1, 'x') : "done";
    return value.starts_with("old");
  }
  bool too_large = false;
  std::function<void()> when_asked;
};

class CompactionFilterTest : public testing::TestWithParam<CompactionStyle> {
 protected:
  void Open(bool merges = true) {
    Options options = TinyOptions();
    options.disable_auto_compactions = !merges;
    options.compaction_style = GetParam();
    options.compaction_filter = &filter_;
    db_.reset();
    ASSERT_OK(DB::Open(options, dir_ / "db", &db_));
  }
  void Fill(const char* third) {
    const char* const values[] = {"new", "old", third};
    for (int i = 0; i < kKeys; ++i) ASSERT_OK(db_->Put(WriteOptions(), Key(i), values[i % 3]));
  }
  // "-" if there is none.
  std::string Get(int i, const Snapshot* snapshot = nullptr) {
    ReadOptions options;
    options.snapshot = snapshot;
    std::string value;
    const Status s = db_->Get(options, Key(i), &value);
    EXPECT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
    return s.ok() ? value : "-";
  }

  TestDir dir_;
  AgeFilter filter_;
  std::unique_ptr<DB> db_;
};

// Keys in order would let a merge take tables over as they are: the filter has to see them all the same.
TEST_P(CompactionFilterTest, SeesEveryValueOnceAllRunsAreMerged) {
  Open();
  Fill("raw");
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  const char* const expected[] = {"new", "-", "done"};
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(i), expected[i % 3]) << i;
  Open();
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(i), expected[i % 3]) << i;
}

TEST_P(CompactionFilterTest, LeavesASnapshotWhatItSees) {
  Open(false);
  Fill("raw");
  const Snapshot* const snapshot = db_->GetSnapshot();
  for (int i = 0; i < kKeys; ++i) ASSERT_OK(db_->Put(WriteOptions(), Key(i), "old"));
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  const char* const expected[] = {"new", "old", "raw"};
  for (int i = 0; i < kKeys; ++i) {
    ASSERT_EQ(Get(i, snapshot), expected[i % 3]) << i;
    ASSERT_EQ(Get(i), "-") << i;
  }
  db_->ReleaseSnapshot(snapshot);
  EXPECT_OK(db_->Close());
}

// The snapshot comes after the merge has asked the filter, and before what it took is gone.
TEST_P(CompactionFilterTest, LeavesASnapshotWhatItSeesThoughItCameDuringTheMerge) {
  Open(false);
  Fill("raw");
  ASSERT_OK(db_->Flush(FlushOptions()));
  const Snapshot* snapshot = nullptr;
  filter_.when_asked = [&] {
    if (snapshot == nullptr) snapshot = db_->GetSnapshot();
  };
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ASSERT_NE(snapshot, nullptr);
  const char* const expected[] = {"new", "old", "raw"};
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(i, snapshot), expected[i % 3]) << i;
  db_->ReleaseSnapshot(snapshot);
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  const char* const filtered[] = {"new", "-", "done"};
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(i), filtered[i % 3]) << i;
  EXPECT_OK(db_->Close());
}

TEST_P(CompactionFilterTest, AValueThatIsTooLargeEndsTheMergeAndNamesTheFilter) {
  filter_.too_large = true;
  Open();
  ASSERT_OK(db_->Put(WriteOptions(), Key(0), "raw"));
  ASSERT_OK(db_->Flush(FlushOptions()));
  ASSERT_OK(db_->Put(WriteOptions(), Key(1), "new"));
  const Status s = db_->CompactRange(CompactRangeOptions(), nullptr, nullptr);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("compaction filter age"), std::string::npos) << s.ToString();
  EXPECT_EQ(Get(0), "raw");
  filter_.too_large = false;
  Open();
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ(Get(0), "done");
}

INSTANTIATE_TEST_SUITE_P(Styles, CompactionFilterTest,
                         testing::Values(CompactionStyle::kTiered, CompactionStyle::kLeveled,
                                         CompactionStyle::kLazyLeveled),
                         [](const auto& style) { return std::string(ToString(style.param)); });

}  // namespace
}  // namespace pmlsm
