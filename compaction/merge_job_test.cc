// A merge step by its contract: what is dead stays dead.
#include "compaction/merge_job.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pmem/test_dir.h"
#include "util/hash.h"

namespace pmlsm {
namespace {

constexpr int kKeys = 400;

std::string Key(int i) { return "key" + std::to_string(1000 + i); }

class MergeStepTest : public testing::Test {
 protected:
  MergeStepTest() {
    PoolOptions options;
    options.set_dir = dir_.Sub("db");
    options.create = true;
    options.max_pmem_bytes = 32 << 20;
    options.extent_bytes = 4 << 10;
    options.client_bytes = 4096;
    EXPECT_TRUE(Pool::Open(options, &pool_).ok());
    extents_ = std::make_unique<ExtentAllocator>(pool_.get());
    publisher_ = Publisher::New(FailureAtomicity::kAtomic, pool_.get());
    context_.pool = pool_.get();
    context_.extents = extents_.get();
    context_.publisher = publisher_.get();
    context_.table_options = {comparator_, 256, 10};
    context_.table_bytes = 4 << 10;
    context_.destination = MergeDestination::kDirect;
    context_.next_table_number = [this] { return ++tables_; };
    context_.cancelled = [] { return false; };
  }

  // Keys [begin, end) but those in `without`; all of them with sequence numbers from `sequence` on.
  std::vector<TableRef> MakeTables(int begin, int end, SequenceNumber sequence,
                                   const std::set<int>& without) {
    RunWriter writer(context_, &counters_);
    const std::string value(100, 'v');
    for (int i = begin; i < end; ++i) {
      if (without.count(i) != 0) continue;
      const std::string key = Key(i);
      EXPECT_TRUE(writer.Add({key, MakeTag(sequence + i, ValueType::kValue), value}).ok());
    }
    std::vector<TableRef> tables;
    EXPECT_TRUE(writer.Finish(&tables).ok());
    return tables;
  }

  PlacedRun Place(std::shared_ptr<const pmlsm::Run> run) {
    PlacedRun placed{std::move(run), {}};
    EXPECT_TRUE(WriteDescriptor(context_, *placed.run, &counters_, &placed.descriptor).ok());
    return placed;
  }

  const Comparator* const comparator_ = BytewiseComparator();
  TestDir dir_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<ExtentAllocator> extents_;
  std::unique_ptr<Publisher> publisher_;
  PersistCounters counters_;
  JobContext context_;
  uint64_t tables_ = 0;
};

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

}  // namespace
}  // namespace pmlsm
