// Cutting and joining runs by their contract: no entry is lost, none crosses a bound.
#include "compaction/run_cut.h"

#include "compaction/job_test_support.h"

namespace pmlsm {
namespace {

constexpr int kKeys = 9;

class RunCutTest : public JobTest {
 protected:
  // Three tables; the key 4 has versions on both sides of a table's end.
  std::vector<OwnedEntry> MakeEntries() {
    std::vector<OwnedEntry> entries;
    for (int i = 0; i < kKeys; ++i) {
      for (SequenceNumber version = i == 4 ? 6 : 1; version > 0; --version) {
        const bool deletes = i % 3 == 1 && version == 1;
        entries.push_back({Key(i), MakeTag(10 + version, deletes ? ValueType::kDeletion : ValueType::kValue),
                           deletes ? "" : std::string(700, 'a' + i)});
      }
    }
    return entries;
  }

  // All parts, as they would be installed.
  std::vector<std::shared_ptr<const pmlsm::Run>> Cut(const PlacedRun& run, const KeyBounds& bounds) {
    const RunCut cut{2, run, bounds, 11, 12, 13};
    MergeStep::Result result;
    EXPECT_TRUE(cut.Execute(context_, &counters_, &result).ok());
    EXPECT_EQ(result.edit.removed, std::set<uint64_t>{run.run->number()});
    std::vector<std::shared_ptr<const pmlsm::Run>> parts;
    for (const auto& added : result.edit.added) {
      EXPECT_EQ(added.level, 2);
      EXPECT_TRUE(added.run.run->Check().ok());
      parts.push_back(added.run.run);
    }
    return parts;
  }

  bool IsIn(uint64_t part, const KeyBounds& bounds, const std::string& key) const {
    if (bounds.begin && key < *bounds.begin) return part == 11;
    return part == (bounds.end && key > *bounds.end ? 13 : 12);
  }
};

TEST_F(RunCutTest, EveryPairOfBoundsCutsWhereItSays) {
  const std::vector<OwnedEntry> entries = MakeEntries();
  const std::vector<TableRef> tables = MakeTables(entries);
  ASSERT_GE(tables.size(), 3u);
  for (int live_from = 0; live_from < 3; ++live_from) {
    const PlacedRun run =
        Place(std::make_shared<const pmlsm::Run>(comparator_, 1, tables, live_from != 0, Key(live_from)));
    const std::vector<OwnedEntry> live = EntriesOf(*run.run);
    for (int begin = -1; begin <= kKeys; ++begin) {
      for (int end = begin; end <= kKeys; ++end) {
        KeyBounds bounds;
        if (begin >= 0) bounds.begin = Key(begin);
        if (end >= 0 && end < kKeys) bounds.end = Key(end);
        SCOPED_TRACE("live from " + std::to_string(live_from) + ", " + std::to_string(begin) + " to " +
                     std::to_string(end));
        const auto parts = Cut(run, bounds);
        std::vector<OwnedEntry> all;
        for (const auto& part : parts) {
          for (OwnedEntry& entry : EntriesOf(*part)) {
            EXPECT_TRUE(IsIn(part->number(), bounds, entry.key)) << entry.key;
            all.push_back(std::move(entry));
          }
        }
        EXPECT_TRUE(all == live);
        const auto joined = JoinRuns(comparator_, 20, parts);
        ASSERT_NE(joined, nullptr);
        EXPECT_TRUE(joined->Check().ok());
        EXPECT_TRUE(EntriesOf(*joined) == live);
      }
    }
  }
}

TEST_F(RunCutTest, OnlyTablesThatReachOverABoundAreCopied) {
  const PlacedRun run = PlaceTables(1, JobTest::MakeTables(0, 400, 1, {}));
  const RunCut cut{2, run, {Key(100), Key(300)}, 11, 12, 13};
  MergeStep::Result result;
  ASSERT_TRUE(cut.Execute(context_, &counters_, &result).ok());
  ASSERT_EQ(result.edit.added.size(), 3u);
  EXPECT_LE(result.bytes_written, 4 * context_.table_bytes);
  EXPECT_GT(run.run->bytes(), 10 * context_.table_bytes);
}

TEST_F(RunCutTest, RunsThatOverlapAreNotJoined) {
  const PlacedRun low = PlaceTables(1, JobTest::MakeTables(0, 20, 1, {}));
  const PlacedRun middle = PlaceTables(2, JobTest::MakeTables(10, 30, 1000, {}));
  const PlacedRun touches = PlaceTables(3, JobTest::MakeTables(19, 30, 1000, {}));
  const PlacedRun above = PlaceTables(4, JobTest::MakeTables(20, 30, 1000, {}));
  EXPECT_EQ(JoinRuns(comparator_, 9, {low.run, middle.run}), nullptr);
  EXPECT_EQ(JoinRuns(comparator_, 9, {low.run, touches.run}), nullptr);
  const auto joined = JoinRuns(comparator_, 9, {above.run, low.run});
  ASSERT_NE(joined, nullptr);
  EXPECT_EQ(EntriesOf(*joined).size(), 30u);
  // A run has one live_lower, at its lower end.
  const auto rest = std::make_shared<const pmlsm::Run>(comparator_, 5, above.run->tables(), true, Key(25));
  EXPECT_EQ(JoinRuns(comparator_, 9, {low.run, rest}), nullptr);
}

TEST_F(RunCutTest, ACancelledCutLeavesNothingBehind) {
  // It looks after 1024 entries.
  std::vector<OwnedEntry> small;
  for (int i = 0; i < 3000; ++i) small.push_back({Key(100000 + i), MakeTag(5, ValueType::kValue), ""});
  context_.table_bytes = 1 << 20;
  const PlacedRun wide = PlaceTables(2, MakeTables(small));
  ASSERT_EQ(wide.run->tables().size(), 1u);
  const uint64_t used = extents_->used_bytes();
  context_.cancelled = [] { return true; };
  {
    MergeStep::Result result;
    const RunCut cancelled{2, wide, {Key(102000), std::nullopt}, 11, 12, 13};
    EXPECT_TRUE(cancelled.Execute(context_, &counters_, &result).IsShutdownInProgress());
  }
  EXPECT_EQ(extents_->used_bytes(), used);
}

}  // namespace
}  // namespace pmlsm
