// The properties that are tables of text: their columns, and that their numbers are those of the DB.
#include <sstream>

#include "test/db/db_test_support.h"

namespace pmlsm {
namespace {

TEST(StatsTest, LevelStatsHasALineALevelThatAddsUpToTheRuns) {
  TestDir dir;
  Options options = TinyOptions();
  options.disable_auto_compactions = true;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, dir / "db", &db));
  const std::string value(1000, 'v');
  for (int i = 0; i < 4000; ++i) ASSERT_OK(db->Put({}, "key" + std::to_string(i), value));
  ASSERT_OK(db->Flush({}));
  std::string text;
  ASSERT_TRUE(db->GetProperty("pmlsm.levelstats", &text));
  std::istringstream lines(text);
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(line, "Level Files Size(MB)");
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(line, "--------------------");
  uint64_t run_bytes = 0;
  ASSERT_TRUE(db->GetIntProperty("pmlsm.total-run-bytes", &run_bytes));
  ASSERT_GT(run_bytes, uint64_t{3} << 20);
  double mib = 0;
  int levels = 0;
  for (; std::getline(lines, line); ++levels) {
    int level = -1;
    uint64_t tables = 0;
    double size = 0;
    ASSERT_TRUE(std::istringstream(line) >> level >> tables >> size) << line;
    EXPECT_EQ(level, levels);
    uint64_t runs = 0;
    ASSERT_TRUE(db->GetIntProperty("pmlsm.num-runs-at-level" + std::to_string(level), &runs));
    EXPECT_GE(tables, runs);
    EXPECT_EQ(tables == 0, runs == 0);
    mib += size;
  }
  EXPECT_EQ(levels, options.num_levels);
  EXPECT_NEAR(mib, static_cast<double>(run_bytes) / (1 << 20), 0.5 * levels);  // rounded, each
}

TEST(StatsTest, StatsCountsFlushesAndMergesAndWhatTheyDropped) {
  TestDir dir;
  Options options = TinyOptions();
  options.disable_auto_compactions = true;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, dir / "db", &db));
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 100; ++i) ASSERT_OK(db->Put({}, "key" + std::to_string(i), "value"));
    ASSERT_OK(db->Flush({}));
  }
  ASSERT_OK(db->CompactRange({}, nullptr, nullptr));
  std::string text;
  ASSERT_TRUE(db->GetProperty("pmlsm.stats", &text));
  EXPECT_EQ(text.find("** Compaction Stats [default] **\n"), 0u);
  EXPECT_NE(text.find("\n** PMem Stats **\n"), std::string::npos);
  EXPECT_NE(text.find("Flushes: 2, merges: 1,"), std::string::npos) << text;
  EXPECT_NE(text.find("dropped: 50.0 percent"), std::string::npos) << text;
  std::istringstream lines(text);
  std::vector<std::string> words;
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, 4, " Sum") != 0) continue;
    std::istringstream in(line);
    for (std::string word; in >> word;) words.push_back(word);
  }
  ASSERT_EQ(words.size(), 20u) << text;
  EXPECT_EQ(words[16], "3") << "2 flushes and a merge";
  EXPECT_EQ(words[18], "200") << text;
  EXPECT_EQ(words[19], "100") << text;
}

// Two runs of the same keys, merged `merges` times.
void MergeSameKeys(DB* db, int merges) {
  for (int round = 0; round <= merges; ++round) {
    for (int i = 0; i < 100; ++i) ASSERT_OK(db->Put({}, "key" + std::to_string(i), "value"));
    ASSERT_OK(db->Flush({}));
    if (round != 0) ASSERT_OK(db->CompactRange({}, nullptr, nullptr));
  }
}

TEST(StatsTest, MergeChoicesTellsTheRulesInputsTheCountsAndEachChoiceWithItsReason) {
  TestDir dir;
  Options options = TinyOptions();
  options.disable_auto_compactions = true;
  options.failure_atomicity = FailureAtomicity::kTransaction;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, dir / "db", &db));
  std::string text;
  ASSERT_TRUE(db->GetProperty("pmlsm.merge-choices", &text));
  EXPECT_NE(text.find("failure atomicity: transaction, merge_order: auto, merge_destination: auto\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Duplicates measured: none yet\n"), std::string::npos) << text;
  MergeSameKeys(db.get(), 2);
  ASSERT_TRUE(db->GetProperty("pmlsm.merge-choices", &text));
  EXPECT_NE(text.find("Duplicates measured: 50 %"), std::string::npos) << text;
  EXPECT_NE(text.find("Chosen 2way buffered: 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Chosen kway direct: 0\n"), std::string::npos) << text;
  const std::string choice = "2way (two inputs), buffered (the transaction snapshots only what is copied)";
  EXPECT_NE(text.find("Choice 2: 2 runs into level "), std::string::npos) << text;
  EXPECT_NE(text.find(choice), std::string::npos) << text;
  EXPECT_NE(ReadFile(dir / "db/LOG").find(choice), std::string::npos) << "LOG tells it, too";
  std::string stats;
  ASSERT_TRUE(db->GetProperty("pmlsm.stats", &stats));
  EXPECT_NE(stats.find("Merges 2way buffered: 2,"), std::string::npos) << stats;
}

TEST(StatsTest, AMergeGoesTheWayThatTheOptionsSet) {
  for (const auto order : {MergeOrder::k2Way, MergeOrder::kKWay}) {
    for (const auto destination : {MergeDestination::kDirect, MergeDestination::kBuffered}) {
      TestDir dir;
      Options options = TinyOptions();
      options.disable_auto_compactions = true;
      options.merge_order = order;
      options.merge_destination = destination;
      std::unique_ptr<DB> db;
      ASSERT_OK(DB::Open(options, dir / "db", &db));
      MergeSameKeys(db.get(), 1);
      const std::string pair = std::string(ToString(order)) + " " + ToString(destination);
      std::string text;
      ASSERT_TRUE(db->GetProperty("pmlsm.merge-choices", &text));
      EXPECT_NE(text.find("Chosen " + pair + ": 1\n"), std::string::npos) << text;
      ASSERT_TRUE(db->GetProperty("pmlsm.stats", &text));
      EXPECT_NE(text.find("Merges " + pair + ": 1,"), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace pmlsm
