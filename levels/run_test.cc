#include "levels/run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "levels/run_format.h"
#include "levels/test_support.h"
#include "util/hash.h"

namespace pmlsm {
namespace {

// A fresh pool, and how tables and runs are put into it.
class RunTest : public testing::TestWithParam<std::tuple<int, MergeDestination, bool>> {
 protected:
  void SetUp() override {
    const Comparator* const comparators[] = {BytewiseComparator(), ReverseBytewiseComparator(),
                                             LengthFirst()};
    options_.comparator = comparators[std::get<0>(GetParam())];
    options_.node_bytes = 256;
    options_.routing_budget = RoutingBudget(std::get<2>(GetParam()));
    dir_ = "/dev/shm/pmlsm_run_test_" + std::to_string(getpid());
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directory(dir_);
    PoolOptions pool_options;
    pool_options.pool_file = dir_ + "/pool";
    pool_options.create = true;
    pool_options.max_pmem_bytes = uint64_t{64} << 20;
    pool_options.extent_bytes = 4096;
    pool_options.client_bytes = 4096;
    const Status s = Pool::Open(pool_options, &pool_);
    ASSERT_TRUE(s.ok()) << s.ToString();
    extents_ = std::make_unique<ExtentAllocator>(pool_.get());
  }
  void TearDown() override {
    extents_.reset();
    pool_.reset();
    std::filesystem::remove_all(dir_);
  }

  // Takes entries from *next on while they fit into `capacity` bytes, and at most `count` of them.
  TableRef MakeTable(const std::vector<OwnedEntry>& entries, size_t* next, uint64_t capacity, size_t count) {
    capacity = std::max(capacity, TableBuilder::BytesFor(options_, entries[*next].ref()));
    Span span;
    Status s = extents_->Allocate(capacity, ExtentAllocator::Use::kBackground, &span);
    CHECK(s.ok());
    Store store(pool_->medium(), &counters_);
    const std::unique_ptr<TableSink> sink =
        TableSink::New(std::get<1>(GetParam()), pool_.get(), span, &store);
    TableBuilder builder(options_, ++table_number_, span.bytes, sink.get());
    for (; *next < entries.size() && count > 0 && builder.Fits(entries[*next].ref()); --count) {
      builder.Add(entries[(*next)++].ref());
    }
    const uint64_t bytes = builder.Finish();
    s = sink->Finish();
    CHECK(s.ok() && bytes <= span.bytes);
    std::unique_ptr<Table> table;
    s = Table::Open(options_, pool_->At(span.offset), span, &table);
    CHECK(s.ok());
    table->MakeRouting();
    return std::make_shared<const TableHandle>(std::move(table), extents_.get());
  }

  std::shared_ptr<const pmlsm::Run> MakeRun(const std::vector<OwnedEntry>& entries, uint64_t capacity,
                                            size_t count = SIZE_MAX) {
    std::vector<TableRef> tables;
    for (size_t next = 0; next < entries.size();)
      tables.push_back(MakeTable(entries, &next, capacity, count));
    return std::make_shared<const pmlsm::Run>(options_.comparator, 1, std::move(tables), false, "");
  }

  Span WriteBytes(const std::string& bytes) {
    Span span;
    CHECK(extents_->Allocate(bytes.size(), ExtentAllocator::Use::kBackground, &span).ok());
    Store store(pool_->medium(), &counters_);
    store.Stream(pool_->Writable(span.offset), bytes.data(), bytes.size());
    CHECK(store.Fence().ok());
    return span;
  }

  std::vector<OwnedEntry> RandomEntries(Random* random, size_t count) {
    Model model(options_.comparator);
    for (size_t i = 0; i < count; ++i) {
      const size_t value_bytes = random->OneIn(60) ? random->Uniform(3000) : random->Uniform(60);
      std::string key = AwkwardKey(random);
      if (random->OneIn(8)) key = "hot";  // continues from table to table
      model.Put(key, 1 + random->Uniform(count), ValueType::kValue, RandomBytes(random, value_bytes));
    }
    return model.All();
  }

  // The run must answer as a run of `entries` alone.
  void ExpectRun(const pmlsm::Run& run, const std::vector<OwnedEntry>& entries, Random* random) {
    const Status s = run.Check();
    ASSERT_TRUE(s.ok()) << s.ToString();
    const Oracle oracle(options_.comparator, entries);
    const std::unique_ptr<InternalIterator> iterator = run.NewIterator(true);
    ASSERT_NO_FATAL_FAILURE(ExpectScans(iterator.get(), entries));
    for (int i = 0; i < 500; ++i) {
      const OwnedEntry& some = entries[random->Uniform(entries.size())];
      std::string key = random->OneIn(2) ? some.key : AwkwardKey(random);
      if (random->OneIn(5)) key.push_back('\0');
      const SequenceNumber snapshot = random->OneIn(3) ? kMaxSequenceNumber : TagSequence(some.tag);
      Entry entry;
      bool found;
      const Status got = run.Get(key, KeyHash(key), snapshot, true, &entry, &found);
      ASSERT_TRUE(got.ok()) << got.ToString();
      const OwnedEntry* const want = oracle.Get(key, snapshot);
      ASSERT_EQ(found, want != nullptr);
      if (found) {
        ASSERT_TRUE(Same(entry, want->ref()));
      }
      ASSERT_NO_FATAL_FAILURE(ExpectSeek(iterator.get(), oracle, entries, key, SeekTag(snapshot)));
    }
  }

  TableOptions options_;
  std::string dir_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<ExtentAllocator> extents_;
  PersistCounters counters_;
  uint64_t table_number_ = 0;
};

INSTANTIATE_TEST_SUITE_P(All, RunTest,
                         testing::Combine(testing::Values(0, 1, 2),
                                          testing::Values(MergeDestination::kDirect,
                                                          MergeDestination::kBuffered),
                                          testing::Bool()));

// Tables are told apart by the bytes behind what all keys begin with, and, where those are the same, by their keys.
TEST_P(RunTest, KeysThatBeginAlikeAreFound) {
  Random random(5);
  Model model(options_.comparator);
  for (int i = 0; i < 3000; ++i) {
    std::string key = "the same prefix:";
    if (!random.OneIn(50)) key += "and the same again:";
    key += AwkwardKey(&random);
    model.Put(key, 1 + random.Uniform(3000), ValueType::kValue, RandomBytes(&random, 20));
  }
  const std::vector<OwnedEntry> entries = model.All();
  const auto run = MakeRun(entries, 8192);
  ASSERT_GT(run->tables().size(), 10u);
  ASSERT_NO_FATAL_FAILURE(ExpectRun(*run, entries, &random));
}

TEST_P(RunTest, AnswersAsOneTableWould) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::vector<OwnedEntry> entries = RandomEntries(&random, 1500);
    const std::shared_ptr<const pmlsm::Run> run = MakeRun(entries, seed % 2 == 0 ? 8192 : 20000);
    ASSERT_GT(run->tables().size(), 3u);
    ASSERT_EQ(run->entries(), entries.size());
    ASSERT_EQ(run->smallest(), Slice(entries.front().key));
    ASSERT_EQ(run->largest(), Slice(entries.back().key));
    ASSERT_NO_FATAL_FAILURE(ExpectRun(*run, entries, &random));
    for (const TableRef& table : run->tables()) table->MarkObsolete();
  }
}

// Tables of two or three entries: each key's versions run over several tables.
TEST_P(RunTest, VersionsContinueFromTableToTable) {
  Random random(9);
  Model model(options_.comparator);
  for (const char* key : {"a", "b", "c"}) {
    for (int version = 1; version <= 7; ++version)
      model.Put(key, version, ValueType::kValue, key + std::to_string(version));
  }
  const std::vector<OwnedEntry> entries = model.All();
  for (const size_t count : {1, 2, 3, 5}) {
    const std::shared_ptr<const pmlsm::Run> run = MakeRun(entries, 8192, count);
    ASSERT_NO_FATAL_FAILURE(ExpectRun(*run, entries, &random));
    for (const TableRef& table : run->tables()) table->MarkObsolete();
  }
}

TEST_P(RunTest, KeysBelowLiveLowerDoNotAppear) {
  Random random(3);
  const std::vector<OwnedEntry> entries = RandomEntries(&random, 600);
  const std::shared_ptr<const pmlsm::Run> whole = MakeRun(entries, 8192);
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::string lower = random.OneIn(2) ? entries[random.Uniform(entries.size())].key : AwkwardKey(&random);
    std::vector<OwnedEntry> live;
    for (const OwnedEntry& entry : entries) {
      if (options_.comparator->Compare(entry.key, lower) >= 0) live.push_back(entry);
    }
    if (live.empty()) continue;
    std::vector<TableRef> tables;
    for (const TableRef& table : whole->tables()) {
      if (options_.comparator->Compare(table->table().largest(), lower) >= 0) tables.push_back(table);
    }
    const pmlsm::Run run(options_.comparator, 2, tables, true, lower);
    ASSERT_NO_FATAL_FAILURE(ExpectRun(run, live, &random));
    for (const OwnedEntry& entry : entries) {
      if (options_.comparator->Compare(entry.key, lower) >= 0) break;
      Entry got;
      bool found;
      ASSERT_TRUE(run.Get(entry.key, KeyHash(entry.key), kMaxSequenceNumber, true, &got, &found).ok());
      ASSERT_FALSE(found);
    }
  }
}

TEST_P(RunTest, CheckRefusesATableBelowLiveLower) {
  Random random(3);
  const std::vector<OwnedEntry> entries = RandomEntries(&random, 300);
  const std::shared_ptr<const pmlsm::Run> whole = MakeRun(entries, 8192);
  ASSERT_GE(whole->tables().size(), 2u);
  const pmlsm::Run run(options_.comparator, 2, whole->tables(), true,
                       whole->tables().back()->table().largest().ToString());
  EXPECT_TRUE(run.Check().IsCorruption());
}

TEST_P(RunTest, DescriptorRoundTrip) {
  Random random(8);
  const std::vector<OwnedEntry> entries = RandomEntries(&random, 800);
  const std::shared_ptr<const pmlsm::Run> run = MakeRun(entries, 8192);
  const std::string descriptor = run->EncodeDescriptor();
  const Span span = WriteBytes(descriptor);
  std::shared_ptr<const pmlsm::Run> opened;
  std::vector<Span> spans;
  Status s = pmlsm::Run::Open(options_, *pool_, extents_.get(), span.offset, &opened, &spans);
  ASSERT_TRUE(s.ok()) << s.ToString();
  ASSERT_EQ(opened->number(), run->number());
  ASSERT_EQ(opened->sequence_max(), run->sequence_max());
  ASSERT_EQ(spans.size(), 1 + run->tables().size());
  ASSERT_EQ(spans[0].offset, span.offset);
  for (size_t i = 0; i < run->tables().size(); ++i) {
    ASSERT_EQ(spans[i + 1].offset, run->tables()[i]->table().span().offset);
  }
  ASSERT_NO_FATAL_FAILURE(ExpectRun(*opened, entries, &random));

  const pmlsm::Run live(options_.comparator, 5, {run->tables().back()}, true, entries.back().key);
  s = pmlsm::Run::Open(options_, *pool_, extents_.get(), WriteBytes(live.EncodeDescriptor()).offset, &opened,
                       &spans);
  ASSERT_TRUE(s.ok()) << s.ToString();
  ASSERT_TRUE(opened->has_live_lower());
  ASSERT_EQ(opened->live_lower(), entries.back().key);
}

TEST_P(RunTest, EveryFlippedBitOfADescriptorIsRefused) {
  Random random(8);
  const std::vector<OwnedEntry> entries = RandomEntries(&random, 100);
  std::vector<TableRef> tables = MakeRun(entries, 8192)->tables();
  const pmlsm::Run run(options_.comparator, 5, {tables.back()}, true, entries.back().key.substr(0, 100));
  const std::string descriptor = run.EncodeDescriptor();
  const Span span = WriteBytes(descriptor);
  Store store(pool_->medium(), &counters_);
  for (size_t bit = 0; bit < descriptor.size() * 8; ++bit) {
    std::string damaged = descriptor;
    damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
    store.Stream(pool_->Writable(span.offset), damaged.data(), damaged.size());
    ASSERT_TRUE(store.Fence().ok());
    std::shared_ptr<const pmlsm::Run> opened;
    std::vector<Span> spans;
    const Status s = pmlsm::Run::Open(options_, *pool_, extents_.get(), span.offset, &opened, &spans);
    ASSERT_TRUE(s.IsCorruption()) << "bit " << bit;
  }
}

TEST_P(RunTest, LastOwnerOfAnObsoleteTableFreesItsSpan) {
  Random random(8);
  const std::vector<OwnedEntry> entries = RandomEntries(&random, 200);
  const uint64_t used = extents_->used_bytes();
  std::shared_ptr<const pmlsm::Run> run = MakeRun(entries, 8192);
  ASSERT_GT(extents_->used_bytes(), used);
  const TableRef kept = run->tables().front();
  const uint64_t kept_bytes = kept->table().span().bytes;
  for (const TableRef& table : run->tables()) table->MarkObsolete();
  run.reset();
  EXPECT_EQ(extents_->used_bytes(), used + kept_bytes);
}

}  // namespace
}  // namespace pmlsm
