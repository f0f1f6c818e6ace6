// The properties that are tables of text: their columns, and that their numbers are those of the DB.
#include <cinttypes>
#include <cstdio>
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

// The line that starts with `name`, as words; none if there is none.
std::vector<std::string> WordsOf(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  std::vector<std::string> words;
  for (std::string line; words.empty() && std::getline(lines, line);) {
    if (line.compare(0, name.size(), name) != 0) continue;
    std::istringstream in(line);
    for (std::string word; in >> word;) words.push_back(word);
  }
  return words;
}

TEST(StatsTest, PmemFiguresAreTheCountersToTheLine) {
  TestDir dir;
  Options options = TinyOptions();
  options.disable_auto_compactions = true;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, dir / "db", &db));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 300; ++i)
      ASSERT_OK(db->Put({}, "key" + std::to_string(1000 + i), std::string(93, 'v')));
    ASSERT_OK(db->Flush({}));
  }
  ASSERT_OK(db->CompactRange({}, nullptr, nullptr));
  // Spare segments may still be prepared, which is no store.
  std::string text, counters;
  ASSERT_TRUE(db->GetProperty("pmlsm.stats", &text));
  ASSERT_TRUE(db->GetProperty("pmlsm.pmem-counters", &counters));
  const std::string pmem = text.substr(text.find("** PMem Stats **"));
  const uint64_t user_bytes = 3 * 300 * 100;
  EXPECT_EQ(WordsOf(pmem, "User bytes written:").back(), std::to_string(user_bytes)) << pmem;
  uint64_t lines = 0, fences = 0;
  for (const std::string name : {"log", "flush", "merge", "manifest"}) {
    std::vector<std::string> counted = WordsOf(counters, name);
    std::vector<std::string> shown = WordsOf(pmem, name);
    ASSERT_EQ(counted.size(), 5u) << counters;
    ASSERT_EQ(shown.size(), 6u) << pmem;
    const double amplification = std::stod(counted[2]) * 64 / static_cast<double>(user_bytes);
    EXPECT_NEAR(std::stod(shown.back()), amplification, 0.0051) << name;
    shown.pop_back();
    EXPECT_EQ(shown, counted);
    lines += std::stoull(counted[2]);
    fences += std::stoull(counted[4]);
  }
  const std::vector<std::string> total = WordsOf(pmem, "total");
  EXPECT_EQ(total[2], std::to_string(lines));
  EXPECT_EQ(total[4], std::to_string(fences));
  // All flushes went into level 0, the merge into level 1.
  EXPECT_EQ(std::stoull(WordsOf(pmem, "Bytes written into level 0:").back()),
            64 * std::stoull(WordsOf(counters, "flush")[2]));
  EXPECT_EQ(std::stoull(WordsOf(pmem, "Bytes written into level 1:").back()),
            64 * std::stoull(WordsOf(counters, "merge")[2]));
  uint64_t run_bytes = 0;
  ASSERT_TRUE(db->GetIntProperty("pmlsm.total-run-bytes", &run_bytes));
  const std::vector<std::string> space = WordsOf(pmem, "Space amplification:");
  ASSERT_GE(space.size(), 4u) << pmem;
  EXPECT_EQ(space[2], "1.00") << "one run is left";
  EXPECT_EQ(space[3], "(" + std::to_string(run_bytes));
  EXPECT_EQ(WordsOf(text, "Entries that merges dropped:")[4], "66.7") << text;
}

TEST(StatsTest, WritesAreCountedByCallsKeysAndSyncs) {
  TestDir dir;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(TinyOptions(), dir / "db", &db));
  std::string text, counters;
  ASSERT_TRUE(db->GetProperty("pmlsm.stats", &text));
  WriteOptions no_log, no_sync;
  no_log.disableWAL = true;
  no_sync.sync = false;
  for (int i = 0; i < 10; ++i) ASSERT_OK(db->Put({}, std::to_string(i), "value"));
  for (int i = 0; i < 4; ++i) ASSERT_OK(db->Put(no_sync, std::to_string(i), "value"));
  for (int i = 0; i < 2; ++i) ASSERT_OK(db->Put(no_log, std::to_string(i), "value"));
  WriteBatch batch;
  for (int i = 0; i < 20; ++i) ASSERT_OK(batch.Put(std::to_string(i), "value"));
  ASSERT_OK(db->Write({}, &batch));
  ASSERT_TRUE(db->GetProperty("pmlsm.stats", &text));
  ASSERT_TRUE(db->GetProperty("pmlsm.pmem-counters", &counters));
  EXPECT_NE(text.find("\n\n** DB Stats **\nUptime(secs): "), std::string::npos) << text;
  for (const std::string lines : {"Cumulative", "Interval"}) {
    const std::vector<std::string> writes = WordsOf(text, lines + " writes:");
    ASSERT_EQ(writes.size(), 19u) << text;
    EXPECT_EQ(writes[2], "17");
    EXPECT_EQ(writes[4], "36");
    EXPECT_EQ(writes[6], "17");
    EXPECT_EQ(WordsOf(text, lines + " WAL:")[2], "15") << text;
    EXPECT_EQ(WordsOf(text, lines + " stall:").size(), 6u) << text;
  }
  EXPECT_EQ(WordsOf(text, "Interval WAL:")[4], "11") << "a fence each sync write";
  EXPECT_EQ(WordsOf(text, "Cumulative WAL:")[4], WordsOf(counters, "log")[4]);
}

TEST(StatsTest, EveryColumnOfEveryLevelCanBeRead) {
  TestDir dir;
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(TinyOptions(), dir / "db", &db));
  for (int i = 0; i < 4000; ++i) ASSERT_OK(db->Put({}, std::to_string(i % 900), std::string(300, 'v')));
  ASSERT_OK(db->Flush({}));
  ASSERT_OK(db->WaitForCompact());
  std::string text;
  ASSERT_TRUE(db->GetProperty("pmlsm.stats", &text));
  const std::vector<std::string> names = WordsOf(text, "Level ");
  ASSERT_EQ(names.size(), 19u);
  int levels = 0;
  for (const std::string name : {"  L0", "  L1", "  L2", "  L3", " Sum", " Int"}) {
    const std::vector<std::string> words = WordsOf(text, name);
    if (words.empty()) continue;
    ++levels;
    ASSERT_EQ(words.size(), names.size() + 1) << "Size has a unit";
    uint64_t tables = 0, busy = 0;
    char rest = 0;
    EXPECT_EQ(sscanf(words[1].c_str(), "%" SCNu64 "/%" SCNu64 "%c", &tables, &busy, &rest), 2) << words[1];
    EXPECT_EQ(busy, 0u) << "no merge runs";
    EXPECT_TRUE(words[3] == "KB" || words[3] == "MB") << words[3];
    for (size_t column = 2; column < words.size(); ++column) {
      if (column == 3) continue;
      double number = -1;
      const bool counts_entries = column >= words.size() - 2;
      const int read =
          sscanf(words[column].c_str(), counts_entries ? "%lf%*[KMG]%c" : "%lf%c", &number, &rest);
      EXPECT_EQ(read, 1) << names[column < 3 ? column : column - 1] << " of" << name << ": " << words[column];
      EXPECT_GE(number, 0) << words[column];
    }
  }
  EXPECT_GE(levels, 4) << text;
}

}  // namespace
}  // namespace pmlsm
