// The picker by what its shapes promise, on runs that have a size and an age, but hardly any content.
#include "compaction/picker.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "levels/test_support.h"
#include "util/random.h"

namespace pmlsm {
namespace {

constexpr uint64_t kFlushBytes = 1 << 20;

// Runs one entry large that claim any size.
class RunMaker {
 public:
  RunMaker() { options_.comparator = BytewiseComparator(); }

  PlacedRun Make(uint64_t number, SequenceNumber newest, uint64_t bytes) {
    OwnedEntry entry;
    entry.key = "k";
    entry.tag = MakeTag(newest, ValueType::kValue);
    memory_.push_back(BuildTable(options_, {entry}));
    std::unique_ptr<Table> table;
    EXPECT_TRUE(Table::Open(options_, memory_.back().memory->data(), Span{number << 40, bytes}, &table).ok());
    const auto handle = std::make_shared<const TableHandle>(std::move(table), nullptr);
    return {std::make_shared<const pmlsm::Run>(options_.comparator, number, std::vector<TableRef>{handle},
                                               false, ""),
            Span{number, 1}};
  }

 private:
  TableOptions options_;
  std::vector<HeapTable> memory_;
};

// Levels that flushes fill and merges empty. What the real thing does with keys is done with ages here: a run
// holds all flushes from `oldest` to `newest`.
class Levels {
 public:
  Levels(CompactionStyle style, int size_ratio, int levels)
      : size_ratio_(size_ratio),
        picker_(style, size_ratio, kFlushBytes),
        version_(std::make_shared<const Version>(levels)) {}

  void SetShape(CompactionStyle style) { picker_ = Picker(style, size_ratio_, kFlushBytes); }

  void Flush() {
    ++flushes_;
    Replace({}, 0, Add(next_number_++, flushes_, flushes_, kFlushBytes));
    flushed_bytes_ += kFlushBytes;
  }

  // Starts the merge that is due; false if none is.
  bool Start() {
    auto pick = picker_.Pick(*version_);
    if (!pick) return false;
    if (pick->moves) {
      const uint64_t number = *pick->inputs.begin();
      Replace(pick->inputs, pick->output_level, Find(number));
      return true;
    }
    pick->output_number = next_number_++;
    picker_.SetBusy(*pick);
    running_.push_back(*pick);
    return true;
  }
  // The first half of the output is there, and all inputs still are.
  void Step(size_t i) {
    const MergePick& pick = running_[i];
    if (Find(pick.output_number).run != nullptr) return;
    Replace({}, pick.output_level, Merged(pick, 2));
    partners_[pick.output_number] = pick.inputs;
  }
  void Finish(size_t i) {
    const MergePick pick = running_[i];
    running_.erase(running_.begin() + i);
    const PlacedRun merged = Merged(pick, 1);
    merged_bytes_ += merged.run->bytes();
    std::set<uint64_t> replaced = pick.inputs;
    if (Find(pick.output_number).run != nullptr) replaced.insert(pick.output_number);
    partners_.erase(pick.output_number);
    Replace(replaced, pick.output_level, merged);
    picker_.SetIdle(pick);
  }
  void Settle() {
    while (Start()) {
      while (!running_.empty()) Finish(0);
    }
  }

  // Of any two runs, the one in the upper level, or further up in the level, has the newer flushes, but for a
  // merge's inputs and output, which share no key.
  void ExpectOrderOfAge() const {
    struct Known {
      uint64_t number;
      std::pair<uint64_t, uint64_t> ages;
    };
    std::vector<Known> newer;
    for (int level = 0; level < version_->levels(); ++level) {
      for (const PlacedRun& placed : version_->runs(level)) {
        const Known run{placed.run->number(), ages_.at(placed.run->number())};
        for (const Known& above : newer) {
          if (ArePartners(above.number, run.number)) continue;
          ASSERT_GT(above.ages.first, run.ages.second)
              << "run " << above.number << " above run " << run.number << " of level " << level;
        }
        newer.push_back(run);
      }
    }
  }

  const Version& version() const { return *version_; }
  const Picker& picker() const { return picker_; }
  size_t running() const { return running_.size(); }
  uint64_t flushes() const { return flushes_; }
  uint64_t flushed_bytes() const { return flushed_bytes_; }
  uint64_t merged_bytes() const { return merged_bytes_; }

 private:
  bool ArePartners(uint64_t a, uint64_t b) const {
    const auto holds = [this](uint64_t output, uint64_t input) {
      const auto found = partners_.find(output);
      return found != partners_.end() && found->second.count(input) != 0;
    };
    return holds(a, b) || holds(b, a);
  }
  PlacedRun Add(uint64_t number, uint64_t oldest, uint64_t newest, uint64_t bytes) {
    ages_[number] = {oldest, newest};
    return maker_.Make(number, newest, bytes);
  }
  PlacedRun Find(uint64_t number) const {
    for (int level = 0; level < version_->levels(); ++level) {
      for (const PlacedRun& placed : version_->runs(level)) {
        if (placed.run->number() == number) return placed;
      }
    }
    return {};
  }
  PlacedRun Merged(const MergePick& pick, uint64_t share) {
    uint64_t bytes = 0;
    std::pair<uint64_t, uint64_t> ages{UINT64_MAX, 0};
    for (const uint64_t number : pick.inputs) {
      bytes += Find(number).run->bytes();
      ages = {std::min(ages.first, ages_[number].first), std::max(ages.second, ages_[number].second)};
    }
    return Add(pick.output_number, ages.first, ages.second, bytes / share);
  }
  void Replace(const std::set<uint64_t>& removed, int level, const PlacedRun& added) {
    VersionEdit edit;
    edit.removed = removed;
    edit.added.push_back({level, added});
    version_ = version_->Apply(edit);
  }

  const int size_ratio_;
  RunMaker maker_;
  Picker picker_;
  VersionRef version_;
  std::vector<MergePick> running_;
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> ages_;  // by run number: oldest and newest flush
  std::map<uint64_t, std::set<uint64_t>> partners_;         // inputs of merges that have written a part
  uint64_t next_number_ = 1;
  uint64_t flushes_ = 0;
  uint64_t flushed_bytes_ = 0;
  uint64_t merged_bytes_ = 0;
};

class PickerTest : public testing::TestWithParam<CompactionStyle> {};

// What the levels look like when nothing is left to do.
void ExpectShape(const Levels& levels, CompactionStyle style, size_t size_ratio) {
  const Version& version = levels.version();
  const int deepest = version.deepest_level();
  for (int level = 0; level < version.levels(); ++level) {
    SCOPED_TRACE("level " + std::to_string(level) + " of " + std::to_string(deepest));
    const size_t runs = version.runs(level).size();
    const bool one_run = level > 0 && (style == CompactionStyle::kLeveled ||
                                       (style == CompactionStyle::kLazyLeveled && level == deepest));
    ASSERT_LE(runs, one_run ? 1 : size_ratio - 1);
    if (one_run && runs == 1 && level + 1 < version.levels()) {
      ASSERT_LE(version.runs(level)[0].run->bytes(), levels.picker().CapacityBytes(level));
    }
  }
}

TEST_P(PickerTest, EachShapeHoldsItsForm) {
  for (const int size_ratio : {2, 3, 8}) {
    for (const int level_count : {1, 2, 5}) {
      SCOPED_TRACE("size ratio " + std::to_string(size_ratio) + ", levels " + std::to_string(level_count));
      Levels levels(GetParam(), size_ratio, level_count);
      for (int i = 0; i < 300; ++i) {
        levels.Flush();
        levels.Settle();
        ASSERT_NO_FATAL_FAILURE(levels.ExpectOrderOfAge());
        ASSERT_NO_FATAL_FAILURE(ExpectShape(levels, GetParam(), size_ratio));
      }
      uint64_t bytes = levels.version().bytes();
      EXPECT_EQ(bytes, levels.flushed_bytes());
    }
  }
}

// Flushes and merges in any order, several merges at once, each possibly cut off half way.
TEST_P(PickerTest, TheOrderOfAgeHoldsWhileMergesOverlap) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Levels levels(GetParam(), 2 + static_cast<int>(random.Uniform(3)),
                  1 + static_cast<int>(random.Uniform(5)));
    for (int step = 0; step < 300; ++step) {
      const uint64_t action = random.Uniform(8);
      if (action < 3) {
        levels.Flush();
      } else if (action < 5 && levels.running() < 3) {
        levels.Start();
      } else if (levels.running() != 0) {
        const size_t i = random.Uniform(levels.running());
        if (random.OneIn(2)) {
          levels.Step(i);
        } else {
          levels.Finish(i);
        }
      }
      ASSERT_NO_FATAL_FAILURE(levels.ExpectOrderOfAge()) << "step " << step;
    }
  }
}

// Any shape takes over the levels that any other left.
TEST_P(PickerTest, AShapeTakesOverFromAnother) {
  for (const CompactionStyle before :
       {CompactionStyle::kTiered, CompactionStyle::kLeveled, CompactionStyle::kLazyLeveled}) {
    Levels levels(before, 3, 5);
    for (int i = 0; i < 100; ++i) {
      levels.Flush();
      levels.Settle();
    }
    levels.SetShape(GetParam());
    levels.Settle();
    ASSERT_NO_FATAL_FAILURE(levels.ExpectOrderOfAge());
    ASSERT_NO_FATAL_FAILURE(ExpectShape(levels, GetParam(), 3));
  }
}

std::string NameOf(const testing::TestParamInfo<CompactionStyle>& info) { return ToString(info.param); }

INSTANTIATE_TEST_SUITE_P(Styles, PickerTest,
                         testing::Values(CompactionStyle::kTiered, CompactionStyle::kLeveled,
                                         CompactionStyle::kLazyLeveled),
                         NameOf);

// What the shapes are for: tiered copies least, leveled most.
TEST(PickerCostTest, TieredWritesLessThanLazyLeveledWritesLessThanLeveled) {
  std::vector<uint64_t> written;
  for (const CompactionStyle style :
       {CompactionStyle::kTiered, CompactionStyle::kLazyLeveled, CompactionStyle::kLeveled}) {
    Levels levels(style, 4, 6);
    for (int i = 0; i < 500; ++i) {
      levels.Flush();
      levels.Settle();
    }
    written.push_back(levels.merged_bytes());
  }
  EXPECT_LT(written[0], written[1]);
  EXPECT_LT(written[1], written[2]);
}

// CompactRange with bounds leaves a run below with newer entries than those above, though of other keys.
TEST(PickerAgeTest, WhatIsNewerBelowIsMergedWithWhatComesFromAbove) {
  RunMaker maker;
  VersionEdit edit;
  edit.added = {{0, maker.Make(1, 95, kFlushBytes)},
                {0, maker.Make(2, 90, kFlushBytes)},
                {1, maker.Make(3, 100, kFlushBytes)},
                {1, maker.Make(4, 10, kFlushBytes)}};
  const VersionRef version = Version(3).Apply(edit);
  Picker picker(CompactionStyle::kTiered, 2, kFlushBytes);
  const auto pick = picker.Pick(*version);
  ASSERT_TRUE(pick);
  EXPECT_EQ(pick->inputs, (std::set<uint64_t>{1, 2, 3}));
  EXPECT_EQ(pick->output_level, 1);

  // Until another merge has done with it, nothing may go past it.
  MergePick other;
  other.inputs = {3};
  other.output_number = 5;
  picker.SetBusy(other);
  EXPECT_FALSE(picker.Pick(*version));
  picker.SetIdle(other);
  EXPECT_TRUE(picker.Pick(*version));
}

// A long merge of level 0 holds its slots: the runs that come meanwhile are merged among themselves.
TEST(PickerSlotsTest, LevelZeroMergesBesideItsOwnMergeWhenSlotsRunShort) {
  constexpr int kRatio = 4;
  Levels levels(CompactionStyle::kLeveled, kRatio, 4);
  for (int i = 0; i < kRatio; ++i) levels.Flush();
  ASSERT_TRUE(levels.Start());
  ASSERT_FALSE(levels.Start());
  while (levels.version().runs(0).size() + 2 < SlotsPerLevel(kRatio)) levels.Flush();
  ASSERT_TRUE(levels.Start());
  levels.Finish(1);
  ASSERT_NO_FATAL_FAILURE(levels.ExpectOrderOfAge());
  levels.Finish(0);
  ASSERT_NO_FATAL_FAILURE(levels.ExpectOrderOfAge());
}

TEST(PickerDebtTest, ALevelOwesItsMergeFromTheTimeThatItIsDueUntilItsSlotsAreFree) {
  constexpr int kRatio = 4;
  Levels levels(CompactionStyle::kTiered, kRatio, 4);
  const auto debt = [&levels](int level) { return levels.picker().DebtBytes(levels.version(), level); };
  for (int i = 0; i < kRatio - 1; ++i) levels.Flush();
  EXPECT_EQ(debt(0), 0u);
  EXPECT_EQ(levels.picker().RoomBytes(levels.version(), 0), (SlotsPerLevel(kRatio) - 3) * kFlushBytes);
  EXPECT_DOUBLE_EQ(levels.picker().Score(levels.version(), 0), 0.75);
  levels.Flush();
  EXPECT_EQ(debt(0), 4 * kFlushBytes);
  ASSERT_TRUE(levels.Start());
  levels.Flush();
  EXPECT_EQ(debt(0), 4 * kFlushBytes);
  EXPECT_TRUE(levels.picker().IsInput(1));
  EXPECT_FALSE(levels.picker().IsInput(6)) << "flushed since";
  levels.Step(0);
  EXPECT_EQ(debt(1), 0u) << "what the merge has written is no debt";
  EXPECT_FALSE(levels.picker().IsInput(5)) << "the output";
  EXPECT_EQ(levels.picker().DebtBytes(levels.version()), 4 * kFlushBytes);
  levels.Finish(0);
  EXPECT_EQ(levels.picker().DebtBytes(levels.version()), 0u);
  EXPECT_FALSE(levels.picker().IsInput(1));
}

TEST(PickerDebtTest, ALevelThatWaitsForTheOneBelowOwesItsRuns) {
  constexpr int kRatio = 2;
  Levels levels(CompactionStyle::kTiered, kRatio, 3);
  for (int run = 0; run < SlotsPerLevel(kRatio); ++run) {
    levels.Flush();
    levels.Flush();
    ASSERT_TRUE(levels.Start());  // of level 0; those of level 1 are not let in
    levels.Finish(0);
  }
  levels.Flush();
  levels.Flush();
  EXPECT_EQ(levels.picker().DebtBytes(levels.version(), 0), 2 * kFlushBytes);
  EXPECT_EQ(levels.picker().DebtBytes(levels.version(), 1), 8 * kFlushBytes);
  EXPECT_EQ(levels.picker().RoomBytes(levels.version(), 1), 0u);
}

TEST(PickerDebtTest, ALevelOfOneRunIsScoredByItsCapacityAndOwesForWhatItIsMergedWith) {
  constexpr int kRatio = 2;
  Levels levels(CompactionStyle::kLeveled, kRatio, 3);
  for (int i = 0; i < 2; ++i) levels.Flush();
  levels.Settle();
  EXPECT_DOUBLE_EQ(levels.picker().Score(levels.version(), 1), 0.5);
  EXPECT_TRUE(levels.picker().HasSlots(levels.version(), 0));
  EXPECT_FALSE(levels.picker().HasSlots(levels.version(), 1));
  for (int i = 0; i < 2; ++i) levels.Flush();
  EXPECT_EQ(levels.picker().DebtBytes(levels.version(), 0), 4 * kFlushBytes) << "two runs and the one below";
}

}  // namespace
}  // namespace pmlsm
