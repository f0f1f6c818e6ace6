// Survivors by what readers see: every history of one key that is small enough, under every set of snapshots.
#include "compaction/survivors.h"

#include <gtest/gtest.h>

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

// What a read at `snapshot` sees; "-" is nothing.
std::string Seen(const History& history, SequenceNumber snapshot) {
  std::vector<Slice> operands;
  const Slice* base = nullptr;
  Slice value;
  for (const Version& version : history) {
    if (TagSequence(version.tag) > snapshot) continue;
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

TEST(SurvivorsTest, NoReaderSeesADifference) {
  constexpr int kVersions = 5;
  Append append;
  for (int choice = 0; choice < 1 << (2 * kVersions); ++choice) {
    History history;
    for (int i = kVersions; i > 0; --i) {
      const auto type = static_cast<ValueType>(choice >> (2 * (i - 1)) & 3);
      const bool has_value = type == ValueType::kValue || type == ValueType::kMerge;
      history.push_back({MakeTag(i, type), has_value ? std::to_string(i) : ""});
    }
    for (int set = 0; set < 1 << kVersions; ++set) {
      std::vector<SequenceNumber> snapshots;
      for (int i = 0; i < kVersions; ++i)
        if ((set >> i & 1) != 0) snapshots.push_back(i + 1);
      for (int how = 0; how < 6; ++how) {
        SCOPED_TRACE("types " + std::to_string(choice) + ", snapshots " + std::to_string(set) + ", " +
                     std::to_string(how));
        const bool held = how % 2 == 1;
        append.partial = how / 2 == 2;
        History kept;
        ASSERT_TRUE(Kept(history,
                         {nullptr, snapshots, [held](const Slice&) { return held; },
                          how / 2 == 0 ? nullptr : &append},
                         &kept)
                        .ok());
        for (const SequenceNumber snapshot : snapshots)
          ASSERT_EQ(Seen(kept, snapshot), Seen(history, snapshot));
        ASSERT_EQ(Seen(kept, kMaxSequenceNumber), Seen(history, kMaxSequenceNumber));
      }
    }
  }
}

TEST(SurvivorsTest, MG1_OperandsAreNotFoldedAcrossASnapshot) {
  Append append;
  const History history = {{MakeTag(3, ValueType::kMerge), "3"},
                           {MakeTag(2, ValueType::kMerge), "2"},
                           {MakeTag(1, ValueType::kMerge), "1"}};
  History kept;
  ASSERT_TRUE(Kept(history, {nullptr, {1, 2}, [](const Slice&) { return false; }, &append}, &kept).ok());
  EXPECT_EQ(Seen(kept, 1), "1");
  EXPECT_EQ(Seen(kept, 2), "1,2");
  EXPECT_EQ(Seen(kept, 3), "1,2,3");
  kept.clear();
  ASSERT_TRUE(Kept(history, {nullptr, {}, [](const Slice&) { return false; }, &append}, &kept).ok());
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].tag, MakeTag(3, ValueType::kValue));
  EXPECT_EQ(kept[0].value, "1,2,3");
}

TEST(SurvivorsTest, AFailedOperatorEndsTheStream) {
  Append append;
  append.fails = true;
  const History history = {{MakeTag(2, ValueType::kMerge), "2"}, {MakeTag(1, ValueType::kValue), "1"}};
  History kept;
  const Status s = Kept(history, {nullptr, {}, [](const Slice&) { return true; }, &append}, &kept);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_TRUE(kept.empty());
}

}  // namespace
}  // namespace pmlsm
