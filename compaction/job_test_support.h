// What the tests of jobs share: a pool, and runs made of chosen entries.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compaction/run_writer.h"
#include "levels/test_support.h"
#include "levels/version.h"
#include "pmem/test_dir.h"

namespace pmlsm {

inline bool operator==(const OwnedEntry& a, const OwnedEntry& b) {
  return a.key == b.key && a.tag == b.tag && a.value == b.value;
}

inline std::string Key(int i) { return "key" + std::to_string(1000 + i); }

class JobTest : public testing::Test {
 protected:
  JobTest() {
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

  PlacedRun PlaceTables(uint64_t number, std::vector<TableRef> tables) {
    return Place(std::make_shared<const pmlsm::Run>(comparator_, number, std::move(tables), false, ""));
  }

  // Entries in internal order.
  std::vector<TableRef> MakeTables(const std::vector<OwnedEntry>& entries) {
    RunWriter writer(context_, &counters_);
    for (const OwnedEntry& entry : entries) {
      EXPECT_TRUE(writer.Add({entry.key, entry.tag, entry.value}).ok());
    }
    std::vector<TableRef> tables;
    EXPECT_TRUE(writer.Finish(&tables).ok());
    return tables;
  }

  static std::vector<OwnedEntry> EntriesOf(const pmlsm::Run& run) {
    std::vector<OwnedEntry> entries;
    const auto iterator = run.NewIterator(true);
    for (iterator->SeekToFirst(); iterator->valid(); iterator->Next()) {
      const Entry& entry = iterator->entry();
      entries.push_back({entry.key.ToString(), entry.tag, entry.value.ToString()});
    }
    EXPECT_TRUE(iterator->status().ok());
    return entries;
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

}  // namespace pmlsm
