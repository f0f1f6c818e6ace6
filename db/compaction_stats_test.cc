#include "db/compaction_stats.h"

#include <sstream>

#include "gtest/gtest.h"

namespace pmlsm {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

// The words of the line whose first word is `name`; none if there is no such line.
std::vector<std::string> Words(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    if (!words.empty() && words[0] == name) return words;
  }
  return {};
}

MergeRecord AMerge() {
  return {1,
          2 * kGiB,
          kGiB,
          2 * kGiB,
          0,
          20000,
          5000,
          4000000,
          3000000,
          MergeOrder::kKWay,
          MergeDestination::kDirect};
}

TEST(CompactionStatsTest, EveryLineHasAValueAColumn) {
  CompactionStats stats(3);
  stats.NoteFlush(4 * kGiB, 1000000, 900000);
  stats.NoteMerge(AMerge());
  const std::string text = stats.Table({{3, 1, 3 << 20, 0.5}, {7, 0, 0, 0}});
  // Size is a number and a unit.
  for (const char* name : {"L0", "L1", "Sum", "Int"}) {
    EXPECT_EQ(Words(text, name).size(), Words(text, "Level").size() + 1) << text;
  }
  EXPECT_TRUE(Words(text, "L2").empty()) << text;
  EXPECT_EQ(Words(text, "L1"),
            (std::vector<std::string>{"L1",   "7/0",  "0.00", "KB",    "0.0", "3.0",   "2.0",
                                      "1.0",  "2.0",  "1.0",  "0.0",   "1.0", "768.0", "512.0",
                                      "4.00", "3.00", "1",    "4.000", "20K", "5000"}));
}

TEST(CompactionStatsTest, SumIsOfAllLevelsAndTheIntervalStartsAnewWithEachCall) {
  CompactionStats stats(3);
  stats.NoteFlush(4 * kGiB, 1000000, 900000);
  stats.NoteMerge(AMerge());
  std::string text = stats.Table({});
  EXPECT_EQ(Words(text, "Sum")[8], "6.0") << text;
  EXPECT_EQ(Words(text, "Sum")[11], "1.5") << text;
  EXPECT_EQ(Words(text, "Int")[8], "6.0") << text;
  stats.NoteMerge(AMerge());
  text = stats.Table({});
  EXPECT_EQ(Words(text, "Sum")[8], "8.0") << text;
  EXPECT_EQ(Words(text, "Int")[8], "2.0") << text;
  EXPECT_EQ(Words(text, "Int")[16], "1") << text;
}

TEST(CompactionStatsTest, MovesAreBytesAndNoMerges) {
  CompactionStats stats(2);
  stats.NoteMerge(AMerge());
  stats.NoteMove(1, 3 * kGiB);
  stats.NoteMove(2, kGiB);
  const std::string text = stats.Table({{}, {1, 0, 0, 0}, {1, 0, 0, 0}});
  EXPECT_EQ(Words(text, "L1")[10], "3.0") << text;
  EXPECT_EQ(Words(text, "L2")[10], "1.0") << text;
  EXPECT_EQ(Words(text, "Sum")[10], "4.0") << text;
  EXPECT_EQ(Words(text, "Sum")[16], "1") << text;
}

TEST(CompactionStatsTest, MergesAreToldByStrategyAndWhatTheyDropped) {
  CompactionStats stats(3);
  EXPECT_EQ(stats.Strategies(), "");
  EXPECT_EQ(stats.DroppedShare(), 0);
  stats.NoteMerge(AMerge());
  stats.NoteMerge(AMerge());
  EXPECT_EQ(stats.DroppedShare(), 0.25);
  EXPECT_NE(stats.Strategies().find(": 2, 8.000 s, 40000 entries, 200000.0 ns an entry\n"), std::string::npos)
      << stats.Strategies();
}

}  // namespace
}  // namespace pmlsm
