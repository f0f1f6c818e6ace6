// What durable operations cost: lines and fences, against a checked-in table, so that a lost fence fails a
// test, and an extra one too. After a change that is meant, put the printed table into persist_counts.txt.
#include <gtest/gtest.h>

#include <cinttypes>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "compaction/run_writer.h"
#include "levels/manifest.h"
#include "pmem/extent_allocator.h"
#include "pmem/hooks/counting_hooks.h"
#include "pmem/pool.h"
#include "pmem/publish.h"
#include "pmlsm/db.h"
#include "test/crash/forked_run.h"

namespace pmlsm::crash {
namespace {

constexpr char kTableFile[] = "test/crash/persist_counts.txt";
constexpr uint64_t kPoolMaxBytes = 64 << 20;
constexpr uint64_t kExtentBytes = 16 << 10;
constexpr FailureAtomicity kModes[] = {FailureAtomicity::kTransaction, FailureAtomicity::kIndividual,
                                       FailureAtomicity::kAtomic};

std::string Row(FailureAtomicity mode, const std::string& operation, const PersistCounts& counts,
                const CountingHooks* hooks) {
  char libpmem[64] = "             -              -";
  if (hooks != nullptr) {
    snprintf(libpmem, sizeof(libpmem), "%13" PRIu64 " %14" PRIu64, hooks->lines(), hooks->fences());
  }
  char row[200];
  snprintf(row, sizeof(row), "%-11s %-18s %8" PRIu64 " %6" PRIu64 " %6" PRIu64 " %6" PRIu64 " %s\n",
           ToString(mode), operation.c_str(), counts.bytes_modified, counts.lines_flushed,
           counts.blocks_touched, counts.fences, libpmem);
  return row;
}

// The line of a class in pmlsm.pmem-counters.
PersistCounts CountsOf(DB* db, const std::string& wanted) {
  std::string text;
  EXPECT_TRUE(db->GetProperty("pmlsm.pmem-counters", &text));
  std::istringstream lines(text);
  std::string name;
  PersistCounts counts;
  while (lines >> name >> counts.bytes_modified >> counts.lines_flushed >> counts.blocks_touched >>
         counts.fences) {
    if (name == wanted) return counts;
  }
  ADD_FAILURE() << "no class " << wanted;
  return {};
}

// Operations of a DB, with room enough in log and memtable that nothing else happens.
std::string DbRows(FailureAtomicity mode) {
  const ScratchDirectory scratch;
  Options options;
  options.create_if_missing = true;
  options.failure_atomicity = mode;
  options.max_pmem_bytes = kPoolMaxBytes;
  options.extent_bytes = kExtentBytes;
  options.write_buffer_size = 1 << 20;
  options.target_table_bytes = 1 << 20;
  options.disable_auto_compactions = true;
  std::unique_ptr<DB> db;
  EXPECT_TRUE(DB::Open(options, scratch.path() + "/db", &db).ok());
  EXPECT_TRUE(db->WaitForCompact().ok());
  const std::string value(100, 'v');
  const auto key = [](int i) { return "key" + std::to_string(1000000000000 + i); };
  std::string rows;
  const auto count = [&](const char* operation, const char* kind, const auto& run) {
    PersistCounts before = CountsOf(db.get(), kind);
    const CountingHooks hooks;
    EXPECT_TRUE(run().ok());
    PersistCounts counts = CountsOf(db.get(), kind);
    counts -= before;
    rows += Row(mode, operation, counts, kind == std::string("log") ? &hooks : nullptr);
  };
  count("put_16B", "log", [&] { return db->Put({}, "key", "value"); });
  count("put_100B", "log", [&] { return db->Put({}, key(0), value); });
  count("delete", "log", [&] { return db->Delete({}, key(0)); });
  count("batch_100x100B", "log", [&] {
    WriteBatch batch;
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(batch.Put(key(i), value).ok());
    return db->Write({}, &batch);
  });
  // The background thread's work: what it did for other purposes is in other classes.
  count("flush_of_102", "flush", [&] { return db->Flush(); });
  EXPECT_TRUE(db->Put({}, key(0), value).ok());
  count("flush_manifest", "manifest", [&] { return db->Flush(); });
  EXPECT_TRUE(db->Close().ok());
  return rows;
}

// A publish, and a table with its run's descriptor, by themselves.
std::string PartRows(FailureAtomicity mode) {
  const ScratchDirectory scratch;
  PoolOptions options;
  options.set_dir = scratch.path() + "/db";
  options.create = true;
  options.max_pmem_bytes = kPoolMaxBytes;
  options.extent_bytes = kExtentBytes;
  options.client_bytes = kManifestAreaBytes;
  std::unique_ptr<Pool> pool;
  EXPECT_TRUE(Pool::Open(options, &pool).ok());
  ExtentAllocator extents(pool.get());
  EXPECT_TRUE(extents.GrowAhead(2 << 20).ok());
  const std::unique_ptr<Publisher> publisher = Publisher::New(mode, pool.get());

  std::string rows;
  PersistCounters counters;
  Manifest manifest(pool.get(), publisher.get(), pool->medium(), &counters);
  ManifestState state;
  state.families.resize(1);
  state.families[0].levels.assign(7, std::vector<uint64_t>(9));
  EXPECT_TRUE(manifest.Publish(&state).ok());
  {
    const PersistCounts before = Read(counters);
    const CountingHooks hooks;
    EXPECT_TRUE(manifest.Publish(&state).ok());
    PersistCounts counts = Read(counters);
    counts -= before;
    rows += Row(mode, "publish", counts, &hooks);
  }

  PersistCounters table_counters;
  JobContext context;
  context.pool = pool.get();
  context.extents = &extents;
  context.publisher = publisher.get();
  context.table_options.comparator = BytewiseComparator();
  context.table_bytes = 256 << 10;
  context.next_table_number = [] { return uint64_t{1}; };
  context.cancelled = [] { return false; };
  for (const MergeDestination destination : {MergeDestination::kDirect, MergeDestination::kBuffered}) {
    context.destination = destination;
    const PersistCounts before = Read(table_counters);
    const CountingHooks hooks;
    std::vector<TableRef> tables;
    {
      RunWriter writer(context, &table_counters);
      const std::string value(100, 'v');
      for (int i = 0; i < 1000; ++i) {
        const std::string key = "key" + std::to_string(1000000000000 + i);
        EXPECT_TRUE(
            writer.Add({key, MakeTag(static_cast<SequenceNumber>(i + 1), ValueType::kValue), value}).ok());
      }
      EXPECT_TRUE(writer.Finish(&tables).ok());
    }
    EXPECT_EQ(tables.size(), 1u);
    PersistCounts counts = Read(table_counters);
    counts -= before;
    rows += Row(mode, std::string("table_1000_") + ToString(destination), counts, &hooks);
  }
  return rows;
}

TEST(PersistCountTest, OperationsCostWhatTheTableSays) {
  std::string table =
      "# The engine's own counters, and what libpmem was asked for by the calling thread, libpmemobj "
      "included.\n"
      "# mode      operation             bytes  lines blocks fences libpmem_lines libpmem_fences\n";
  for (const FailureAtomicity mode : kModes) table += DbRows(mode) + PartRows(mode);
  std::ostringstream expected;
  expected << std::ifstream(kTableFile).rdbuf();
  EXPECT_EQ(expected.str(), table);
  if (expected.str() != table) printf("%s is now:\n%s", kTableFile, table.c_str());
}

}  // namespace
}  // namespace pmlsm::crash
