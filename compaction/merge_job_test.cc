// A merge step by its contract: what is dead stays dead.
#include "compaction/merge_job.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compaction/job_test_support.h"
#include "util/hash.h"

namespace pmlsm {
namespace {

constexpr int kKeys = 400;

using MergeStepTest = JobTest;

// A merge moved the keys below the middle out of the old run, dropping a deleted one, and was cut off. The
// next merge starts from the first key again and cuts below the middle.
TEST_F(MergeStepTest, RestOfAnUnfinishedMergeNeverGrowsBack) {
  const int middle = kKeys / 2;
  const PlacedRun old_run = Place(
      std::make_shared<const pmlsm::Run>(comparator_, 1, MakeTables(0, kKeys, 1, {}), true, Key(middle)));
  const PlacedRun moved = Place(
      std::make_shared<const pmlsm::Run>(comparator_, 2, MakeTables(0, middle, 1000, {100}), false, ""));

  MergeStep step;
  step.inputs = {{1, moved}, {1, old_run}};
  step.output_number = 3;
  step.output_level = 1;
  step.step_bytes = 4 << 10;
  MergeStep::Result result;
  ASSERT_TRUE(step.Execute(context_, &counters_, &result).ok());
  ASSERT_FALSE(result.done);

  bool old_run_is_there = false;
  for (const auto& added : result.edit.added) {
    if (added.run.run->number() != 1) continue;
    old_run_is_there = true;
    EXPECT_EQ(added.run.run->smallest().ToString(), Key(middle));
    Entry entry;
    bool found = true;
    ASSERT_TRUE(
        added.run.run->Get(Key(100), KeyHash(Key(100)), kMaxSequenceNumber, true, &entry, &found).ok());
    EXPECT_FALSE(found);
  }
  EXPECT_TRUE(old_run_is_there);
}

TEST_F(MergeStepTest, ACancelIsSeenAfterAFewLargeValues) {
  constexpr int kLarge = 30;
  context_.table_bytes = 1 << 20;
  std::vector<OwnedEntry> entries;
  for (int i = 0; i < kLarge; ++i) {
    entries.push_back({Key(i), MakeTag(1000, ValueType::kValue), std::string(400 << 10, 'v')});
  }
  // And older versions of the same keys, or the tables would be taken over.
  const PlacedRun large = PlaceTables(1, JobTest::MakeTables(entries));
  const PlacedRun small = PlaceTables(2, JobTest::MakeTables(0, kLarge, 10, {}));
  const uint64_t used = extents_->used_bytes();
  context_.cancelled = [] { return true; };
  MergeStep step;
  step.inputs = {{0, large}, {0, small}};
  step.output_number = 3;
  step.step_bytes = 1 << 30;
  MergeStep::Result result;
  EXPECT_TRUE(step.Execute(context_, &counters_, &result).IsShutdownInProgress());
  EXPECT_GT(result.entries_written, 0u);
  EXPECT_LE(result.entries_written, 4096u / 400 + 1) << "4 MiB of the large ones";
  result = MergeStep::Result();
  EXPECT_EQ(extents_->used_bytes(), used);
}

// ---- Tables that are taken over ----

class TakeOverTest : public MergeStepTest {
 protected:
  // One step over `inputs`, as large as it takes.
  MergeStep::Result Merge(std::vector<MergeStep::Input> inputs) {
    MergeStep step;
    step.inputs = std::move(inputs);
    step.older = older_;
    step.output_number = 99;
    step.output_level = 1;
    step.step_bytes = 1 << 20;
    MergeStep::Result result;
    EXPECT_TRUE(step.Execute(context_, &counters_, &result).ok());
    EXPECT_TRUE(result.done);
    return result;
  }

  static uint64_t Bytes(const std::vector<TableRef>& tables) {
    uint64_t bytes = 0;
    for (const TableRef& table : tables) bytes += table->table().span().bytes;
    return bytes;
  }

  static std::vector<std::string> KeysOf(const pmlsm::Run& run) {
    std::vector<std::string> keys;
    const auto iterator = run.NewIterator(true);
    for (iterator->SeekToFirst(); iterator->valid(); iterator->Next())
      keys.push_back(iterator->entry().key.ToString());
    EXPECT_TRUE(iterator->status().ok());
    return keys;
  }

  std::vector<std::shared_ptr<const pmlsm::Run>> older_;
};

TEST_F(TakeOverTest, RunsThatDoNotOverlapAreJoinedWithoutCopying) {
  const PlacedRun high = PlaceTables(1, MakeTables(kKeys / 2, kKeys, 1000, {}));
  const PlacedRun low = PlaceTables(2, MakeTables(0, kKeys / 2, 1, {}));
  const MergeStep::Result result = Merge({{0, high}, {0, low}});

  ASSERT_EQ(result.edit.added.size(), 1u);
  const pmlsm::Run& joined = *result.edit.added[0].run.run;
  ASSERT_TRUE(joined.Check().ok());
  const std::vector<std::string> keys = KeysOf(joined);
  ASSERT_EQ(keys.size(), size_t{kKeys});
  for (int i = 0; i < kKeys; ++i) EXPECT_EQ(keys[i], Key(i));
  // Only a run's last table may be too small.
  EXPECT_GE(result.bytes_moved, high.run->bytes() + low.run->bytes() - 2 * context_.table_bytes);
  EXPECT_LE(result.bytes_written, 2 * context_.table_bytes);
  EXPECT_EQ(result.bytes_moved + Bytes(result.written), joined.bytes());
}

TEST_F(TakeOverTest, OnlyTheTablesThatOverlapAreCopied) {
  const PlacedRun wide = PlaceTables(1, MakeTables(0, kKeys, 1, {}));
  const PlacedRun narrow = PlaceTables(2, MakeTables(100, 110, 1000, {}));
  const MergeStep::Result result = Merge({{0, narrow}, {0, wide}});

  const pmlsm::Run& merged = *result.edit.added[0].run.run;
  ASSERT_TRUE(merged.Check().ok());
  ASSERT_EQ(KeysOf(merged).size(), size_t{kKeys});
  Entry entry;
  bool found = false;
  ASSERT_TRUE(merged.Get(Key(105), KeyHash(Key(105)), kMaxSequenceNumber, true, &entry, &found).ok());
  EXPECT_TRUE(found && TagSequence(entry.tag) == 1105);
  EXPECT_GT(result.bytes_moved, wide.run->bytes() / 2);
  EXPECT_GT(result.bytes_written, 0u);
  EXPECT_LT(result.entries_read, uint64_t{kKeys} / 2);
}

// What a merge would drop is no reason to keep a table as it is.
TEST_F(TakeOverTest, TablesWithTombstonesAreTakenOverOnlyIfTheyMustBeKept) {
  for (const bool held_below : {false, true}) {
    RunWriter writer(context_, &counters_);
    for (int i = 0; i < 100; ++i)
      ASSERT_TRUE(writer.Add({Key(i), MakeTag(1000, ValueType::kDeletion), ""}).ok());
    std::vector<TableRef> tables;
    ASSERT_TRUE(writer.Finish(&tables).ok());
    const PlacedRun deleted = PlaceTables(1, std::move(tables));
    older_.clear();
    if (held_below) {
      older_.push_back(
          std::make_shared<const pmlsm::Run>(comparator_, 3, MakeTables(0, kKeys, 1, {}), false, ""));
    }
    const MergeStep::Result result = Merge({{0, deleted}});
    EXPECT_EQ(result.edit.added.empty(), !held_below);
    EXPECT_EQ(result.bytes_moved != 0, held_below);
  }
}

TEST_F(TakeOverTest, TablesWithOlderVersionsAreCopied) {
  RunWriter writer(context_, &counters_);
  const std::string value(100, 'v');
  for (int i = 0; i < 100; ++i) {
    for (const SequenceNumber sequence : {2, 1}) {
      ASSERT_TRUE(writer.Add({Key(i), MakeTag(sequence, ValueType::kValue), value}).ok());
    }
  }
  std::vector<TableRef> tables;
  ASSERT_TRUE(writer.Finish(&tables).ok());
  const MergeStep::Result result = Merge({{0, PlaceTables(1, std::move(tables))}});
  EXPECT_EQ(result.bytes_moved, 0u);
  EXPECT_EQ(result.entries_written, 100u);
}

// ---- Operands ----

class Concatenate final : public MergeOperator {
 public:
  const char* Name() const override { return "concatenate"; }
  bool FullMerge(const Slice& key, const Slice* existing, const std::vector<Slice>& operands,
                 std::string* value) const override {
    if (existing != nullptr) *value = existing->ToString();
    for (const Slice& operand : operands) value->append(operand.data(), operand.size());
    return true;
  }
};

// MG-1: a merge that goes on after each of its steps, as after a kill, uses no operand twice and loses none.
TEST_F(MergeStepTest, MG1_OperandsAreFoldedOnceOverManySteps) {
  const Concatenate concatenate;
  context_.merge_operator = &concatenate;
  RunWriter writer(context_, &counters_);
  for (int i = 0; i < kKeys; ++i) {
    for (const SequenceNumber sequence : {9002, 9001})
      ASSERT_TRUE(
          writer.Add({Key(i), MakeTag(sequence, ValueType::kMerge), sequence == 9001 ? "1" : "2"}).ok());
  }
  std::vector<TableRef> tables;
  ASSERT_TRUE(writer.Finish(&tables).ok());
  MergeStep step;
  step.inputs = {
      {0, Place(std::make_shared<const pmlsm::Run>(comparator_, 1, std::move(tables), false, ""))},
      {1, Place(std::make_shared<const pmlsm::Run>(comparator_, 2, MakeTables(0, kKeys, 1, {}), false, ""))}};
  step.output_number = 3;
  step.output_level = 1;
  step.step_bytes = 8 << 10;
  int steps = 0;
  for (bool done = false; !done; ++steps) {
    MergeStep::Result result;
    ASSERT_TRUE(step.Execute(context_, &counters_, &result).ok());
    step.inputs.clear();
    for (const auto& added : result.edit.added) {
      if (added.run.run->number() == step.output_number) {
        step.output = added.run;
      } else {
        step.inputs.push_back({added.level, added.run});
      }
    }
    done = result.done;
  }
  EXPECT_GT(steps, 3);
  const auto iterator = step.output.run->NewIterator(true);
  int i = 0;
  for (iterator->SeekToFirst(); iterator->valid(); iterator->Next(), ++i) {
    EXPECT_EQ(iterator->entry().key.ToString(), Key(i));
    EXPECT_EQ(iterator->entry().tag, MakeTag(9002, ValueType::kValue));
    EXPECT_EQ(iterator->entry().value.ToString(), std::string(100, 'v') + "12");
  }
  EXPECT_EQ(i, kKeys);
}

}  // namespace
}  // namespace pmlsm
