// Verdicts on rows that are made up: of each finding there are rows for which it holds, and rows for which it does not.
#include "tools/experiments/findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace pmlsm::experiments {
namespace {

constexpr uint64_t kEntries = 100;
constexpr uint64_t kNodeSizes[] = {1 << 10, 8 << 10, 64 << 10};

// How much longer each choice takes than the other.
struct World {
  double hash_move = 1;
  double sorted_fill = 1;
  double transaction = 1;
  double individual = 1;
  double kway = 1;
  double streaming = 1;
  double buffered = 1;
  double auto_bytes = 1;  // written, against the best
};

double TimeOf(const World& world, const Setup& setup) {
  double time = 1000;
  if (setup.atomicity == FailureAtomicity::kTransaction) time *= world.transaction;
  if (setup.atomicity == FailureAtomicity::kIndividual) time *= world.individual;
  if (setup.experiment == Experiment::kMoveNode) {
    return setup.memtable == MemTableType::kHash ? time * world.hash_move : time;
  }
  if (setup.form == MergeForm::kKWay) time *= world.kway;
  if (setup.form == MergeForm::kStreaming) time *= world.streaming;
  return setup.destination == MergeDestination::kBuffered ? time * world.buffered : time;
}

Row RowOf(const World& world, const Setup& setup) {
  Row row;
  row.setup = setup;
  row.entries_read = row.entries_written = kEntries;
  const double time = TimeOf(world, setup);
  row.nanos = {time, 0.9 * time, 50 * time};  // the median counts
  row.fill_nanos = {setup.memtable == MemTableType::kSorted ? 1000 * world.sorted_fill : 1000};
  row.cost.line_bytes = 64 * kEntries * (setup.form == MergeForm::kAuto ? world.auto_bytes : 1);
  return row;
}

std::vector<Row> RowsOf(const World& world) {
  std::vector<Row> rows;
  for (const uint64_t node_bytes : kNodeSizes) {
    for (const auto memtable : {MemTableType::kSorted, MemTableType::kHash}) {
      for (const auto atomicity :
           {FailureAtomicity::kTransaction, FailureAtomicity::kIndividual, FailureAtomicity::kAtomic}) {
        Setup setup;
        setup.node_bytes = node_bytes;
        setup.memtable = memtable;
        setup.atomicity = atomicity;
        rows.push_back(RowOf(world, setup));
      }
    }
    for (const Setup& setup : MergeSetups(node_bytes)) rows.push_back(RowOf(world, setup));
  }
  return rows;
}

Finding FindingOf(const std::string& id, const std::vector<Row>& rows) {
  const std::vector<Finding> findings = JudgeFindings(rows);
  const auto at = std::find_if(findings.begin(), findings.end(),
                               [&](const Finding& finding) { return finding.id == id; });
  EXPECT_NE(at, findings.end()) << id;
  return at == findings.end() ? Finding() : *at;
}

struct Case {
  const char* id;
  double World::*choice;
  std::vector<double> holds;
  std::vector<double> fails;
};
// What the paper says, in terms of what takes longer: 1.02 is no difference.
const Case kCases[] = {
    {"E6.1", &World::hash_move, {1.2, 3}, {0.5, 1, 1.02}},
    {"E6.2", &World::sorted_fill, {1.2, 3}, {0.5, 1, 1.02}},
    {"E6.3", &World::hash_move, {1.2, 3}, {0.5, 1, 1.02}},
    {"E6.4", &World::transaction, {1.2, 3}, {0.5, 1, 1.02}},
    {"E6.5", &World::transaction, {1.2, 3}, {0.5, 1, 1.02}},
    {"E6.6", &World::individual, {0.95, 1, 1.05}, {0.5, 1.2, 3}},
    {"E7.1", &World::transaction, {1.2, 3}, {0.5, 1, 1.02}},
    {"E7.2", &World::kway, {1.2, 3}, {0.5, 1, 1.02}},
    {"E7.2s", &World::kway, {1.2, 3}, {0.5, 1, 1.02}},
    {"E7.2s", &World::streaming, {0.3, 0.8}, {1, 2}},
    {"E7.3", &World::kway, {0.95, 1, 1.05}, {0.5, 1.2, 3}},
    {"E7.4", &World::kway, {1.2, 3}, {0.5, 1, 1.02}},
    {"E7.5", &World::buffered, {1.2, 3}, {0.5, 1, 1.02}},
    {"E7.6", &World::buffered, {0.3, 0.8}, {0.98, 1, 2}},
    {"E7.7", &World::kway, {1.2, 3}, {0.5, 1, 1.02}},
    {"E7.8", &World::kway, {0.5, 1, 1.02}, {1.2, 3}},
    {"6.1", &World::transaction, {1.2, 3}, {0.5, 1, 1.02}},
    {"A.1", &World::auto_bytes, {0.9, 1, 1.04}, {1.06, 2}},
};

TEST(Findings, EachHoldsOnSomeRowsAndFailsOnOthers) {
  for (const Case& c : kCases) {
    for (const double factor : c.holds) {
      World world;
      world.*c.choice = factor;
      const Finding finding = FindingOf(c.id, RowsOf(world));
      EXPECT_EQ(finding.verdict, "holds") << c.id << " at " << factor;
      EXPECT_GT(finding.pairs, 0u);
      EXPECT_EQ(finding.reason, "") << "there is nothing to explain";
    }
    for (const double factor : c.fails) {
      World world;
      world.*c.choice = factor;
      const Finding finding = FindingOf(c.id, RowsOf(world));
      EXPECT_EQ(finding.verdict, "does not hold") << c.id << " at " << factor;
      EXPECT_NE(finding.reason, "");
    }
  }
  for (const Finding& finding : JudgeFindings({})) {
    EXPECT_EQ(finding.verdict, "not measured");
    EXPECT_TRUE(
        std::any_of(std::begin(kCases), std::end(kCases), [&](const Case& c) { return finding.id == c.id; }))
        << finding.id << " is not tested";
  }
}

// What is not compared must not matter.
TEST(Findings, OtherChoicesDoNotCount) {
  World world;
  world.hash_move = 7;
  world.transaction = 5;
  world.individual = 3;
  for (const char* id : {"E7.3", "E7.8", "A.1"})
    EXPECT_EQ(FindingOf(id, RowsOf(world)).verdict, "holds") << id;
  for (const char* id : {"E7.2", "E7.2s", "E7.4", "E7.5", "E7.6", "E7.7"}) {
    EXPECT_EQ(FindingOf(id, RowsOf(world)).verdict, "does not hold") << id;
  }
  world = {};
  world.kway = 7;
  world.buffered = 5;
  for (const char* id : {"E6.1", "E6.2", "E6.4", "E7.1", "6.1"}) {
    EXPECT_EQ(FindingOf(id, RowsOf(world)).verdict, "does not hold") << id;
  }
}

TEST(Findings, SmallBuffersAreTheSmallNodes) {
  World world;
  world.hash_move = 2;
  EXPECT_EQ(FindingOf("E6.3", RowsOf(world)).by_node.size(), 2u) << "1 and 8 KiB, not 64";
}

// Half of the pairs agree, and nine of ten do not.
TEST(Findings, SomePairsAreAPart) {
  World slow;
  slow.transaction = 2;
  std::vector<Row> rows = RowsOf(slow);
  for (Row& row : rows) {
    if (row.setup.node_bytes == kNodeSizes[0]) row = RowOf(World(), row.setup);
  }
  const Finding finding = FindingOf("E6.4", rows);
  EXPECT_EQ(finding.verdict, "holds in part");
  EXPECT_EQ(finding.pairs, 6u);
  EXPECT_EQ(finding.agreeing, 4u);
  EXPECT_DOUBLE_EQ(finding.min, 1);
  EXPECT_DOUBLE_EQ(finding.median, 2);
  EXPECT_DOUBLE_EQ(finding.max, 2);
  EXPECT_NE(finding.reason, "");
}

}  // namespace
}  // namespace pmlsm::experiments
