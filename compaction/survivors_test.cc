// Survivors by what readers see: every history of one key that is small enough, under every set of snapshots.
#include "compaction/survivors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pmlsm {
namespace {

class Append final : public MergeOperator {
 public:
  const char* Name() const override { return "append"; }
  bool FullMerge(const Slice& key, const Slice* existing, const std::vector<Slice>& operands,
                 std::string* value) const override {
    if (fails) return false;
    if (existing != nullptr) *value = existing->ToString();
    for (const Slice& operand : operands) *value += (value->empty() ? "" : ",") + operand.ToString();
    return true;
  }
  bool PartialMerge(const Slice& key, const Slice& left, const Slice& right,
                    std::string* value) const override {
    *value = left.ToString() + "," + right.ToString();
    return partial;
  }
  bool partial = false;
  bool fails = false;
};

struct Version {
  Tag tag;
  std::string value;
};
using History = std::vector<Version>;  // of one key, newest first

class Source final : public ForwardIterator {
 public:
  explicit Source(const History& history) : history_(history) {}
  void SeekToFirst() override { Place(0); }
  void Next() override { Place(at_ + 1); }
  Status status() const override { return Status::OK(); }

 private:
  void Place(size_t at) {
    at_ = at;
    valid_ = at < history_.size();
    if (valid_) entry_ = {"key", history_[at].tag, history_[at].value};
  }
  const History& history_;
  size_t at_ = 0;
};

using Numbers = std::vector<SequenceNumber>;

SurvivorRules RulesFor(Numbers snapshots, bool held, const MergeOperator* merge_operator = nullptr) {
  SurvivorRules rules;
  rules.snapshots = std::move(snapshots);
  rules.held_below = [held](const Slice&) { return held; };
  rules.merge_operator = merge_operator;
  return rules;
}

// What a read at `snapshot` sees; "-" is nothing. `covering`: range tombstones over the key.
std::string Seen(const History& history, SequenceNumber snapshot, const Numbers& covering = {}) {
  SequenceNumber covered_from = 0;
  for (const SequenceNumber number : covering)
    if (number <= snapshot) covered_from = std::max(covered_from, number);
  std::vector<Slice> operands;
  const Slice* base = nullptr;
  Slice value;
  for (const Version& version : history) {
    if (TagSequence(version.tag) > snapshot) continue;
    if (TagSequence(version.tag) < covered_from) break;
    if (TagType(version.tag) == ValueType::kMerge) {
      operands.insert(operands.begin(), version.value);
      continue;
    }
    if (TagType(version.tag) == ValueType::kValue) base = &(value = version.value);
    break;
  }
  if (operands.empty()) return base == nullptr ? "-" : base->ToString();
  std::string merged;
  EXPECT_TRUE(Append().FullMerge("key", base, operands, &merged));
  return merged;
}

Status Kept(const History& history, SurvivorRules rules, History* kept) {
  rules.comparator = BytewiseComparator();
  Survivors survivors(std::move(rules), std::make_unique<Source>(history));
  for (survivors.SeekToFirst(); survivors.valid(); survivors.Next())
    kept->push_back({survivors.entry().tag, survivors.entry().value.ToString()});
  if (survivors.status().ok()) {
    EXPECT_EQ(survivors.entries_read(), history.size());
  }
  return survivors.status();
}

Numbers Chosen(int choice, int count) {
  Numbers chosen;
  for (int i = 0; i < count; ++i)
    if ((choice >> i & 1) != 0) chosen.push_back(i + 1);
  return chosen;
}

// Two bits of `choice` a version, which is of even number, the newest first: range tombstones take the odd ones.
History HistoryOf(int choice, int versions) {
  History history;
  for (int i = versions; i > 0; --i) {
    const auto type = static_cast<ValueType>(choice >> (2 * (i - 1)) & 3);
    const bool has_value = type == ValueType::kValue || type == ValueType::kMerge;
    history.push_back({MakeTag(2 * i, type), has_value ? std::to_string(i) : ""});
  }
  return history;
}

// A value in a run that is older than the inputs must stay hidden where it was. A SingleDelete over two values is
// against its contract.
void PutBelow(History* history) {
  for (const Version& version : *history)
    if (TagType(version.tag) == ValueType::kSingleDeletion) return;
  history->push_back({MakeTag(0, ValueType::kValue), "below"});
}

void ExpectNoReaderSeesADifference(const History& history, const Numbers& snapshots, const Numbers& covering,
                                   bool held, const MergeOperator* merge_operator) {
  std::vector<RangeTombstone> ranges;
  for (const SequenceNumber number : covering) ranges.push_back({"a", "z", number});
  const RangeTombstones tombstones(BytewiseComparator(), ranges);
  SurvivorRules rules = RulesFor(snapshots, held, merge_operator);
  rules.range_tombstones = &tombstones;
  History kept;
  ASSERT_TRUE(Kept(history, rules, &kept).ok());
  Numbers kept_covering;
  const RangeTombstones surviving =
      tombstones.Surviving(snapshots, [held](const Slice&, const Slice&) { return held; });
  if (!surviving.empty()) kept_covering = surviving.fragments()[0].sequences;
  History before = history;
  if (held) {
    PutBelow(&before);
    if (before.size() != history.size()) kept.push_back(before.back());
  }
  Numbers readers = snapshots;
  readers.push_back(kMaxSequenceNumber);
  for (const SequenceNumber reader : readers)
    ASSERT_EQ(Seen(kept, reader, kept_covering), Seen(before, reader, covering)) << "at " << reader;
}

// How an operator may be there: not at all, folding with a base only, folding operands too.
void ForEachOperator(const std::function<void(bool held, const MergeOperator*)>& run) {
  Append append;
  for (const bool held : {false, true}) {
    run(held, nullptr);
    append.partial = false;
    run(held, &append);
    append.partial = true;
    run(held, &append);
  }
}

TEST(SurvivorsTest, NoReaderSeesADifference) {
  constexpr int kVersions = 5;
  for (int choice = 0; choice < 1 << (2 * kVersions); ++choice) {
    const History history = HistoryOf(choice, kVersions);
    for (int set = 0; set < 1 << kVersions; ++set) {
      Numbers snapshots = Chosen(set, kVersions);
      for (SequenceNumber& snapshot : snapshots) snapshot *= 2;
      SCOPED_TRACE("types " + std::to_string(choice) + ", snapshots " + std::to_string(set));
      ForEachOperator([&](bool held, const MergeOperator* merge_operator) {
        ExpectNoReaderSeesADifference(history, snapshots, {}, held, merge_operator);
      });
      if (HasFatalFailure()) return;
    }
  }
}

TEST(SurvivorsTest, NoReaderSeesADifferenceUnderRangeTombstones) {
  constexpr int kVersions = 3;
  constexpr int kNumbers = 2 * kVersions + 1;
  for (int choice = 0; choice < 1 << (2 * kVersions); ++choice) {
    const History history = HistoryOf(choice, kVersions);
    for (int set = 0; set < 1 << kNumbers; ++set) {
      for (int ranges = 1; ranges < 1 << (kVersions + 1); ++ranges) {
        Numbers covering = Chosen(ranges, kVersions + 1);
        for (SequenceNumber& number : covering) number = 2 * number - 1;
        SCOPED_TRACE("types " + std::to_string(choice) + ", snapshots " + std::to_string(set) + ", ranges " +
                     std::to_string(ranges));
        ForEachOperator([&](bool held, const MergeOperator* merge_operator) {
          ExpectNoReaderSeesADifference(history, Chosen(set, kNumbers), covering, held, merge_operator);
        });
        if (HasFatalFailure()) return;
      }
    }
  }
}

// DR-1: the operand's base is what the range delete left, which is nothing, though a value lies below it.
TEST(SurvivorsTest, DR1_ARangeDeleteIsTheBaseOfLaterOperands) {
  Append append;
  const RangeTombstones tombstones(BytewiseComparator(), {{"k", "l", 2}});
  const History history = {{MakeTag(3, ValueType::kMerge), "b"}, {MakeTag(1, ValueType::kValue), "a"}};
  SurvivorRules rules = RulesFor({}, true, &append);
  rules.range_tombstones = &tombstones;
  History kept;
  ASSERT_TRUE(Kept(history, rules, &kept).ok());
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].tag, MakeTag(3, ValueType::kValue));
  EXPECT_EQ(kept[0].value, "b");
}

// DR-2, DR-3: a range delete that a snapshot does not see takes nothing from it.
TEST(SurvivorsTest, DR3_ARangeDeleteNewerThanTheSnapshotLeavesItsValue) {
  const RangeTombstones tombstones(BytewiseComparator(), {{"b", "c", 2}, {"a", "z", 4}});
  const History history = {{MakeTag(1, ValueType::kValue), "a"}};
  for (const bool snapshot_lives : {true, false}) {
    SurvivorRules rules = RulesFor(snapshot_lives ? Numbers{3} : Numbers{}, false);
    rules.range_tombstones = &tombstones;
    History kept;
    ASSERT_TRUE(Kept(history, rules, &kept).ok());
    EXPECT_EQ(kept.size(), snapshot_lives ? 1u : 0u);
    const RangeTombstones surviving =
        tombstones.Surviving(rules.snapshots, [](const Slice&, const Slice&) { return false; });
    EXPECT_EQ(surviving.NewestCovering("key", kMaxSequenceNumber), snapshot_lives ? 4u : 0u);
  }
}

TEST(SurvivorsTest, MG1_OperandsAreNotFoldedAcrossASnapshot) {
  Append append;
  const History history = {{MakeTag(3, ValueType::kMerge), "3"},
                           {MakeTag(2, ValueType::kMerge), "2"},
                           {MakeTag(1, ValueType::kMerge), "1"}};
  History kept;
  ASSERT_TRUE(Kept(history, RulesFor({1, 2}, false, &append), &kept).ok());
  EXPECT_EQ(Seen(kept, 1), "1");
  EXPECT_EQ(Seen(kept, 2), "1,2");
  EXPECT_EQ(Seen(kept, 3), "1,2,3");
  kept.clear();
  ASSERT_TRUE(Kept(history, RulesFor({}, false, &append), &kept).ok());
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].tag, MakeTag(3, ValueType::kValue));
  EXPECT_EQ(kept[0].value, "1,2,3");
}

// A key that makes no sense holds up no other: its records stay as they are.
TEST(SurvivorsTest, WhatAFailedOperatorDoesNotFoldStays) {
  Append append;
  append.fails = true;
  const History history = {{MakeTag(2, ValueType::kMerge), "2"}, {MakeTag(1, ValueType::kValue), "1"}};
  History kept;
  ASSERT_TRUE(Kept(history, RulesFor({}, false, &append), &kept).ok());
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].tag, history[0].tag);
  EXPECT_EQ(kept[1].tag, history[1].tag);
}

TEST(SurvivorsTest, AnUnknownRecordTypeEndsTheStream) {
  const History history = {{MakeTag(2, ValueType::kPrepare), ""}};
  History kept;
  EXPECT_TRUE(Kept(history, RulesFor({}, false), &kept).IsCorruption());
}

TEST(SurvivorsTest, CancelEndsTheStreamThoughNothingSurvives) {
  History history;
  for (SequenceNumber i = 5000; i > 0; --i) history.push_back({MakeTag(i, ValueType::kDeletion), ""});
  SurvivorRules rules = RulesFor({}, false);
  int asked = 0;
  rules.cancelled = [&asked] { return ++asked == 2; };
  History kept;
  EXPECT_TRUE(Kept(history, rules, &kept).IsShutdownInProgress());
  EXPECT_EQ(asked, 2);
}

// ---- Compaction filters ----

// Removes "drop", changes "change" into "changed".
class WordFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "words"; }
  bool Filter(int level, const Slice& key, const Slice& value, std::string* new_value,
              bool* value_changed) const override {
    asked.push_back(std::to_string(level) + value.ToString());
    *value_changed = value == "change";
    if (*value_changed) *new_value = "changed";
    return value == "drop";
  }
  mutable std::vector<std::string> asked;
};

class FilterTest : public testing::Test {
 protected:
  History Filtered(const History& history, std::vector<SequenceNumber> snapshots, bool held,
                   const MergeOperator* merge_operator = nullptr) {
    SurvivorRules rules = RulesFor(std::move(snapshots), held, merge_operator);
    rules.filter = &filter_;
    rules.filter_level = 3;
    History kept;
    EXPECT_TRUE(Kept(history, rules, &kept).ok());
    return kept;
  }
  WordFilter filter_;
};

TEST_F(FilterTest, IsAskedAboutTheNewestVersionAlone) {
  const History kept = Filtered({{MakeTag(3, ValueType::kValue), "change"},
                                 {MakeTag(2, ValueType::kValue), "drop"},
                                 {MakeTag(1, ValueType::kDeletion), ""}},
                                {}, true);
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].tag, MakeTag(3, ValueType::kValue));
  EXPECT_EQ(kept[0].value, "changed");
  EXPECT_EQ(filter_.asked, std::vector<std::string>{"3change"});
}

TEST_F(FilterTest, WhatItRemovesHidesOlderValues) {
  const History history = {{MakeTag(2, ValueType::kValue), "drop"}, {MakeTag(1, ValueType::kValue), "old"}};
  History kept = Filtered(history, {}, true);
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].tag, MakeTag(2, ValueType::kDeletion));
  EXPECT_TRUE(Filtered(history, {}, false).empty());
}

TEST_F(FilterTest, IsNotAskedAboutWhatASnapshotSees) {
  const History history = {{MakeTag(3, ValueType::kValue), "keep"}, {MakeTag(2, ValueType::kValue), "drop"}};
  EXPECT_EQ(Filtered(history, {2}, false).size(), 2u);
  EXPECT_EQ(filter_.asked, std::vector<std::string>{"3keep"});
  EXPECT_EQ(Filtered(history, {3}, false).size(), 1u);
  EXPECT_EQ(filter_.asked.size(), 1u);
}

TEST_F(FilterTest, IsAskedAboutWhatOperandsFoldInto) {
  Append append;
  const History history = {{MakeTag(2, ValueType::kMerge), "drop"}};
  EXPECT_TRUE(Filtered(history, {}, false, &append).empty());
  EXPECT_EQ(Filtered(history, {}, true, &append).size(), 1u);  // not folded, so not asked
  EXPECT_EQ(filter_.asked, std::vector<std::string>{"3drop"});
}

}  // namespace
}  // namespace pmlsm
