#include "levels/hidden_share.h"

#include "levels/test_support.h"

namespace pmlsm {
namespace {

constexpr int kSamples = 2000;
constexpr double kTolerance = 0.05;  // more than four standard deviations

std::string Key(int i) { return "key" + std::to_string(1000000 + i); }

class HiddenShareTest : public testing::Test {
 protected:
  // A run of the keys first, first + step ... below last, newer than those before, several tables long.
  void AddRun(int first, int last, int step = 1, const std::string& live_lower = "") {
    const SequenceNumber sequence = ++runs_;
    std::vector<OwnedEntry> entries;
    for (int i = first; i < last; i += step) {
      entries.push_back({Key(i), MakeTag(sequence, ValueType::kValue), "value"});
    }
    std::vector<TableRef> tables;
    for (size_t next = 0; next < entries.size();) {
      tables_.push_back(BuildTable(options_, ++table_number_, 32 << 10, entries, &next));
      tables.push_back(std::make_shared<TableHandle>(std::move(tables_.back().table), nullptr));
    }
    PlacedRun placed;
    placed.run = std::make_shared<::pmlsm::Run>(BytewiseComparator(), runs_, std::move(tables),
                                                !live_lower.empty(), live_lower);
    VersionEdit edit;
    edit.added.push_back({0, placed});
    version_ = version_->Apply(edit);
  }
  double Share() {
    double share = -1;
    const Status s = HiddenShare(*version_, kSamples, 1, &share);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return share;
  }

  TableOptions options_{BytewiseComparator(), 512, 10};
  std::vector<HeapTable> tables_;  // outlive the version
  std::shared_ptr<const Version> version_ = std::make_shared<Version>(1);
  uint64_t runs_ = 0;
  uint64_t table_number_ = 0;
};

TEST_F(HiddenShareTest, NothingHidesWhereNothingIsNewer) {
  EXPECT_EQ(Share(), 0);
  AddRun(0, 5000);
  ASSERT_GT(tables_.size(), 3u);
  EXPECT_EQ(Share(), 0);
}

TEST_F(HiddenShareTest, RunsOfDifferentKeysHideNothing) {
  AddRun(0, 5000, 2);
  AddRun(1, 5000, 2);
  EXPECT_EQ(Share(), 0);
}

TEST_F(HiddenShareTest, IsTheShareOfOverwrittenEntries) {
  AddRun(0, 4000);
  AddRun(0, 4000);
  EXPECT_NEAR(Share(), 0.5, kTolerance);
  AddRun(0, 4000);
  EXPECT_NEAR(Share(), 2.0 / 3, kTolerance);
  AddRun(0, 4000, 4);
  EXPECT_NEAR(Share(), 9000.0 / 13000, kTolerance);
}

TEST_F(HiddenShareTest, ASmallRunCountsByItsEntries) {
  AddRun(0, 10000);
  AddRun(3000, 3100);
  EXPECT_NEAR(Share(), 0.01, kTolerance / 3);
  AddRun(0, 100);
  EXPECT_LT(Share(), 0.05);
}

// A merge has taken the keys below: they hide nothing any more.
TEST_F(HiddenShareTest, KeysBelowLiveLowerHideNothing) {
  AddRun(0, 4000);
  AddRun(0, 4000, 1, Key(2000));
  EXPECT_NEAR(Share(), 0.25, kTolerance);
}

}  // namespace
}  // namespace pmlsm
