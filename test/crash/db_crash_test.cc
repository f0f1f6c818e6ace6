// A DB survives power failures at any instant, in every mode of failure atomicity, with both memtables.
#include <gtest/gtest.h>

#include <string>

#include "test/crash/db_suite.h"

namespace pmlsm::crash {
namespace {

// The quick set: the soak is denser.
constexpr int kRecoveries = 2;
constexpr uint64_t kSparseness = 1;
// Transactions fence their logs: many more instants an operation.
constexpr uint64_t kTransactionSparseness = 5;

class DbCrashTest : public testing::TestWithParam<DbRunConfig> {};

// WB-2: batches larger than a memtable. WL-3: cuts in recovery, and in the recovery from those. PM-2: what a
// reader saw is there.
TEST_P(DbCrashTest, WB2_WL3_PM2_SurvivesPowerFailuresAtAnyInstant) {
  const SuiteResult result = RunDbSuite(GetParam(), kRecoveries);
  EXPECT_EQ(result.failure, "");
  EXPECT_GT(result.images, 1000u);
  printf("%s\n%s", GetParam().ToString().c_str(), FormatPhases(result.reports).c_str());
}

DbRunConfig Config(FailureAtomicity failure_atomicity, MemTableType memtable, MergeOrder order,
                   MergeDestination destination, CompactionStyle style) {
  DbRunConfig config;
  config.failure_atomicity = failure_atomicity;
  config.memtable = memtable;
  config.merge_order = order;
  config.merge_destination = destination;
  config.compaction_style = style;
  const bool transactions = failure_atomicity == FailureAtomicity::kTransaction;
  config.sparseness = transactions ? kTransactionSparseness : kSparseness;
  config.seed = static_cast<uint64_t>(failure_atomicity) * 2 + static_cast<uint64_t>(memtable) + 1;
  config.background_jobs = memtable == MemTableType::kHash ? 2 : 1;
  config.writers = order == MergeOrder::k2Way ? 2 : 1;
  config.reader = destination == MergeDestination::kBuffered;
  config.full_pool = failure_atomicity == FailureAtomicity::kIndividual && memtable == MemTableType::kSorted;
  config.unsynced = !config.reader && config.writers == 1;
  return config;
}

// Batches across two families, and a third that comes and goes.
DbRunConfig WithFamilies(DbRunConfig config) {
  config.families = true;
  config.sparseness = 4;
  return config;
}

std::string NameOf(const testing::TestParamInfo<DbRunConfig>& info) {
  std::string name =
      std::string(ToString(info.param.failure_atomicity)) + "_" + ToString(info.param.memtable);
  if (info.param.families) name += "_families";
  for (char& c : name) {
    if (!isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

constexpr auto kDirect = MergeDestination::kDirect;
constexpr auto kBuffered = MergeDestination::kBuffered;
constexpr auto kTiered = CompactionStyle::kTiered;
constexpr auto kLeveled = CompactionStyle::kLeveled;
constexpr auto kLazyLeveled = CompactionStyle::kLazyLeveled;

INSTANTIATE_TEST_SUITE_P(
    All, DbCrashTest,
    testing::Values(
        Config(FailureAtomicity::kTransaction, MemTableType::kSorted, MergeOrder::kKWay, kBuffered, kLeveled),
        Config(FailureAtomicity::kTransaction, MemTableType::kHash, MergeOrder::k2Way, kDirect, kTiered),
        Config(FailureAtomicity::kIndividual, MemTableType::kSorted, MergeOrder::k2Way, kBuffered, kTiered),
        Config(FailureAtomicity::kIndividual, MemTableType::kHash, MergeOrder::kKWay, kDirect, kLazyLeveled),
        Config(FailureAtomicity::kAtomic, MemTableType::kSorted, MergeOrder::kKWay, kDirect, kLazyLeveled),
        Config(FailureAtomicity::kAtomic, MemTableType::kHash, MergeOrder::k2Way, kBuffered, kLeveled),
        WithFamilies(Config(FailureAtomicity::kIndividual, MemTableType::kHash, MergeOrder::kKWay, kDirect,
                            kTiered))),
    NameOf);

}  // namespace
}  // namespace pmlsm::crash
