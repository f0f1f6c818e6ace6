// Column families by their contract: each call that names one, what is refused, what a dropped one leaves behind, what
// idle ones and many of them cost.
#include <atomic>
#include <thread>

#include "db/offline.h"
#include "db/wal_reader.h"
#include "levels/manifest.h"
#include "pmem/pool.h"
#include "test/db/family_test_support.h"

namespace pmlsm {
namespace {

class ColumnFamilyTest : public FamilyTest {};

TEST_F(ColumnFamilyTest, EachFamilyIsAMapOfItsOwn) {
  Open({"default", "one"});
  ASSERT_OK(db()->Put(WriteOptions(), "k", "default's"));
  ASSERT_OK(db()->Put(WriteOptions(), handle("one"), "k", "one's"));
  EXPECT_TRUE(Holds("default", {{"k", "default's"}}));
  EXPECT_TRUE(Holds("one", {{"k", "one's"}}));
  ASSERT_OK(db()->Delete(WriteOptions(), handle("one"), "k"));
  EXPECT_TRUE(Holds("default", {{"k", "default's"}}));
  EXPECT_TRUE(Holds("one", {}));
  ASSERT_OK(db()->Put(WriteOptions(), db()->DefaultColumnFamily(), "k", "2"));
  EXPECT_TRUE(Holds("default", {{"k", "2"}}));
}

TEST_F(ColumnFamilyTest, HandlesTellWhatTheyName) {
  ColumnFamilyOptions reverse = FamilyOptions();
  reverse.comparator = ReverseBytewiseComparator();
  reverse.size_ratio = 3;
  Open({"default"});
  EXPECT_EQ(db()->DefaultColumnFamily()->GetName(), kDefaultColumnFamilyName);
  EXPECT_EQ(db()->DefaultColumnFamily()->GetID(), 0u);
  Create("one", reverse);
  EXPECT_EQ(handle("one")->GetName(), "one");
  EXPECT_EQ(handle("one")->GetID(), 1u);
  EXPECT_EQ(handle("one")->GetComparator(), ReverseBytewiseComparator());
  ColumnFamilyDescriptor descriptor;
  ASSERT_OK(handle("one")->GetDescriptor(&descriptor));
  EXPECT_EQ(descriptor.name, "one");
  EXPECT_EQ(descriptor.options.size_ratio, 3);
}

TEST_F(ColumnFamilyTest, IdsAreNeverGivenAgain) {
  Open({"default", "one"});
  const uint32_t first = handle("one")->GetID();
  Drop("one");
  Create("one");
  EXPECT_GT(handle("one")->GetID(), first);
  const uint32_t second = handle("one")->GetID();
  Drop("one");
  Reopen();
  Create("one");
  EXPECT_GT(handle("one")->GetID(), second);
}

TEST_F(ColumnFamilyTest, OpenNamesTheFamiliesThatItWasNotGiven) {
  Open({"default", "one", "two"});
  ASSERT_OK(db()->Put(WriteOptions(), handle("two"), "k", "v"));
  Close();
  const Status alone = OpenStatus({"default"});
  EXPECT_TRUE(alone.IsInvalidArgument()) << alone.ToString();
  EXPECT_NE(alone.ToString().find("one, two"), std::string::npos) << alone.ToString();
  const Status part = OpenStatus({"default", "one"});
  EXPECT_TRUE(part.IsInvalidArgument()) << part.ToString();
  EXPECT_NE(part.ToString().find("two"), std::string::npos) << part.ToString();
  std::unique_ptr<DB> db;
  const Status plain = DB::Open(TinyOptions(), path(), &db);
  EXPECT_TRUE(plain.IsInvalidArgument()) << plain.ToString();
  EXPECT_EQ(db, nullptr);
  Open({"two", "default", "one"});  // in any order
  EXPECT_TRUE(Holds("two", {{"k", "v"}}));
}

TEST_F(ColumnFamilyTest, MissingFamiliesAreCreatedOnlyIfAsked) {
  options().create_missing_column_families = false;
  Status s = OpenStatus({"default", "one"});
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_FALSE(std::filesystem::exists(path() + "/pool.set")) << "nothing is created";
  Open({"default"});
  Close();
  s = OpenStatus({"default", "one", "two"});
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("one, two"), std::string::npos) << s.ToString();
  EXPECT_NE(s.ToString().find("create_missing_column_families"), std::string::npos) << s.ToString();
  EXPECT_EQ(List(), (std::vector<std::string>{"default"}));
  options().create_missing_column_families = true;
  Open({"default", "one"});
  ASSERT_OK(db()->Put(WriteOptions(), handle("one"), "k", "v"));
  Close();
  EXPECT_EQ(List(), (std::vector<std::string>{"default", "one"}));
  options().create_missing_column_families = false;
  Open({"default", "one"});
  EXPECT_TRUE(Holds("one", {{"k", "v"}}));
}

TEST_F(ColumnFamilyTest, OpenRefusesBadListsOfFamilies) {
  EXPECT_TRUE(OpenStatus({}).IsInvalidArgument());
  EXPECT_TRUE(OpenStatus({"one"}).IsInvalidArgument());
  EXPECT_TRUE(OpenStatus({"default", "one", "one"}).IsInvalidArgument());
  EXPECT_TRUE(OpenStatus({"default", ""}).IsInvalidArgument());
  EXPECT_TRUE(OpenStatus({"default", std::string(256, 'n')}).IsInvalidArgument());
  family_options("one").size_ratio = 99;
  const Status s = OpenStatus({"default", "one"});
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("one"), std::string::npos) << s.ToString();
  EXPECT_NE(s.ToString().find("size_ratio"), std::string::npos) << s.ToString();
  EXPECT_FALSE(std::filesystem::exists(path() + "/pool.set")) << "nothing is created";
}

TEST_F(ColumnFamilyTest, CreateRefusesWhatOpenWould) {
  Open({"default", "one"});
  ColumnFamilyHandle* none = db()->DefaultColumnFamily();
  EXPECT_TRUE(db()->CreateColumnFamily(FamilyOptions(), "one", &none).IsInvalidArgument());
  EXPECT_EQ(none, nullptr);
  EXPECT_TRUE(db()->CreateColumnFamily(FamilyOptions(), "default", &none).IsInvalidArgument());
  EXPECT_TRUE(db()->CreateColumnFamily(FamilyOptions(), "", &none).IsInvalidArgument());
  EXPECT_TRUE(db()->CreateColumnFamily(FamilyOptions(), std::string(256, 'n'), &none).IsInvalidArgument());
  ColumnFamilyOptions bad = FamilyOptions();
  bad.comparator = nullptr;
  EXPECT_TRUE(db()->CreateColumnFamily(bad, "two", &none).IsInvalidArgument());
  EXPECT_EQ(IntProperty(db(), "pmlsm.num-column-families"), 2u);
  Create(std::string(255, 'n'));
  Create(std::string("\0\n", 2));
  Reopen();
  EXPECT_TRUE(Holds(std::string("\0\n", 2), {}));
}

// CM-1 for families: the name of the order is each family's own.
TEST_F(ColumnFamilyTest, CM1AnotherOrderIsRefusedByName) {
  Open({"default", "one"});
  ASSERT_OK(db()->Put(WriteOptions(), handle("one"), "k", "v"));
  Close();
  family_options("one").comparator = ReverseBytewiseComparator();
  const Status s = OpenStatus({"default", "one"});
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  for (const char* part : {"one", BytewiseComparator()->Name(), ReverseBytewiseComparator()->Name()}) {
    EXPECT_NE(s.ToString().find(part), std::string::npos) << s.ToString();
  }
  family_options("one").comparator = BytewiseComparator();
  family_options("default").comparator = ReverseBytewiseComparator();
  EXPECT_TRUE(OpenStatus({"default", "one"}).IsInvalidArgument());
  family_options("default").comparator = BytewiseComparator();
  Open({"default", "one"});
  EXPECT_TRUE(Holds("one", {{"k", "v"}}));
}

TEST_F(ColumnFamilyTest, ListNeedsAClosedDB) {
  std::vector<std::string> names;
  EXPECT_TRUE(DB::ListColumnFamilies(options(), path(), &names).IsInvalidArgument()) << "there is none";
  Open({"default", "one"});
  EXPECT_TRUE(DB::ListColumnFamilies(options(), path(), &names).IsIOError()) << "it is open";
  Close();
  EXPECT_EQ(List(), (std::vector<std::string>{"default", "one"}));
}

TEST_F(ColumnFamilyTest, TheDefaultFamilyStays) {
  Open({"default"});
  EXPECT_TRUE(db()->DropColumnFamily(db()->DefaultColumnFamily()).IsInvalidArgument());
  EXPECT_TRUE(db()->DropColumnFamily(handle("default")).IsInvalidArgument());
  EXPECT_TRUE(db()->DestroyColumnFamilyHandle(db()->DefaultColumnFamily()).IsInvalidArgument());
  ASSERT_OK(db()->Put(WriteOptions(), "k", "v"));
}

TEST_F(ColumnFamilyTest, OnlyHandlesOfThisDBAreTaken) {
  Open({"default", "one"});
  TestDir other_dir;
  std::unique_ptr<DB> other;
  ASSERT_OK(DB::Open(TinyOptions(), other_dir / "db", &other));
  for (ColumnFamilyHandle* bad : {static_cast<ColumnFamilyHandle*>(nullptr), other->DefaultColumnFamily()}) {
    std::string value;
    PinnableSlice pinned;
    uint64_t number = 0;
    std::vector<Iterator*> iterators;
    EXPECT_TRUE(db()->Put(WriteOptions(), bad, "k", "v").IsInvalidArgument());
    EXPECT_TRUE(db()->Delete(WriteOptions(), bad, "k").IsInvalidArgument());
    EXPECT_TRUE(db()->Get(ReadOptions(), bad, "k", &value).IsInvalidArgument());
    EXPECT_TRUE(db()->Get(ReadOptions(), bad, "k", &pinned).IsInvalidArgument());
    const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions(), bad));
    EXPECT_TRUE(it->status().IsInvalidArgument());
    EXPECT_FALSE(it->Valid());
    EXPECT_TRUE(db()->NewIterators(ReadOptions(), {handle("one"), bad}, &iterators).IsInvalidArgument());
    EXPECT_TRUE(iterators.empty());
    std::vector<std::string> values;
    const std::vector<Status> read = db()->MultiGet(ReadOptions(), {handle("one"), bad}, {"k", "k"}, &values);
    EXPECT_TRUE(read[0].IsNotFound());
    EXPECT_TRUE(read[1].IsInvalidArgument());
    for (const Status& s : db()->MultiGet(ReadOptions(), {handle("one")}, {"k", "k"}, &values)) {
      EXPECT_TRUE(s.IsInvalidArgument()) << "one family, two keys: " << s.ToString();
    }
    EXPECT_TRUE(db()->Flush(FlushOptions(), bad).IsInvalidArgument());
    EXPECT_TRUE(db()->CompactRange(CompactRangeOptions(), bad, nullptr, nullptr).IsInvalidArgument());
    EXPECT_FALSE(db()->GetProperty(bad, "pmlsm.stats", &value));
    EXPECT_FALSE(db()->GetIntProperty(bad, "pmlsm.total-run-bytes", &number));
    EXPECT_TRUE(db()->DropColumnFamily(bad).IsInvalidArgument());
    EXPECT_TRUE(db()->DestroyColumnFamilyHandle(bad).IsInvalidArgument());
  }
  EXPECT_EQ(db()->GetLatestSequenceNumber(), 0u) << "nothing was written";
}

TEST_F(ColumnFamilyTest, ABatchSpansFamiliesInAllStates) {
  Open({"default", "one", "two"});
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "0"));
  ASSERT_OK(batch.Put(handle("one"), "a", "1"));
  ASSERT_OK(batch.Put(handle("two"), "a", "2"));
  ASSERT_OK(batch.Put(handle("one"), "b", "1"));
  ASSERT_OK(batch.Delete(handle("two"), "a"));
  ASSERT_OK(batch.Put(nullptr, "b", "0"));
  ASSERT_OK(db()->Write(WriteOptions(), &batch));
  ExpectInEachState([&] {
    EXPECT_TRUE(Holds("default", {{"a", "0"}, {"b", "0"}}));
    EXPECT_TRUE(Holds("one", {{"a", "1"}, {"b", "1"}}));
    EXPECT_TRUE(Holds("two", {}));
  });
}

TEST_F(ColumnFamilyTest, ABatchWithAnUnknownFamilyIsRefusedWhole) {
  Open({"default", "one"});
  WriteBatch batch;
  ASSERT_OK(batch.Put("k", "v"));
  ASSERT_OK(batch.Put(handle("one"), "k", "v"));
  std::string bytes = batch.Data();
  const size_t id = bytes.rfind(std::string("\x01\x01\x01k", 4)) + 1;  // type, family, length, key
  ASSERT_NE(id, std::string::npos + 1);
  bytes[id] = 7;
  WriteBatch unknown(bytes);
  EXPECT_TRUE(db()->Write(WriteOptions(), &unknown).IsInvalidArgument());
  EXPECT_TRUE(Holds("default", {}));
  EXPECT_TRUE(Holds("one", {}));
}

// CF-1: one write to a dropped family harms nobody else.
TEST_F(ColumnFamilyTest, CF1OneWriteToADroppedFamily) {
  Open({"default", "one"});
  ASSERT_OK(db()->Put(WriteOptions(), handle("one"), "a", "1"));
  ASSERT_OK(db()->Put(WriteOptions(), handle("one"), "b", "2"));
  std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions(), handle("one")));
  it->SeekToFirst();
  ColumnFamilyHandle* const dropped = handle("one");
  ASSERT_OK(db()->DropColumnFamily(dropped));
  EXPECT_TRUE(db()->Put(WriteOptions(), dropped, "c", "3").IsInvalidArgument());
  EXPECT_TRUE(db()->Delete(WriteOptions(), dropped, "a").IsInvalidArgument());
  EXPECT_TRUE(db()->Flush(FlushOptions(), dropped).IsInvalidArgument());
  EXPECT_TRUE(db()->CompactRange(CompactRangeOptions(), dropped, nullptr, nullptr).IsInvalidArgument());
  EXPECT_TRUE(db()->DropColumnFamily(dropped).IsInvalidArgument());
  WriteBatch batch;
  ASSERT_OK(batch.Put("lost", "with the batch"));
  ASSERT_OK(batch.Put(dropped, "c", "3"));
  EXPECT_TRUE(db()->Write(WriteOptions(), &batch).IsInvalidArgument());
  ASSERT_OK(db()->Put(WriteOptions(), "k", "v"));

  ColumnFamilyHandle* again = nullptr;
  ASSERT_OK(db()->CreateColumnFamily(FamilyOptions(), "one", &again));
  std::string value;
  EXPECT_TRUE(db()->Get(ReadOptions(), again, "a", &value).IsNotFound());
  EXPECT_TRUE(it->Valid() && it->key() == "a" && it->value() == "1");
  it->Next();
  EXPECT_TRUE(it->Valid() && it->key() == "b" && it->value() == "2");
  it->Next();
  EXPECT_FALSE(it->Valid());
  EXPECT_OK(it->status());
  EXPECT_OK(db()->Get(ReadOptions(), dropped, "b", &value));
  EXPECT_EQ(value, "2");
  it.reset(db()->NewIterator(ReadOptions(), dropped));
  it->SeekToLast();
  EXPECT_TRUE(it->Valid() && it->key() == "b");
  it.reset();
  ASSERT_OK(db()->DestroyColumnFamilyHandle(again));
  Forget("one");  // its handle
  Remember("one");
  Kill();
  EXPECT_TRUE(Holds("default", {{"k", "v"}}));
  EXPECT_TRUE(Holds("one", {})) << "records of the old one are still in the log";
}

TEST_F(ColumnFamilyTest, ADroppedFamilysSpaceComesBackWithItsLastReader) {
  Open({"default", "one"});
  const uint64_t before = UsedBytes();
  Fill("one", 2000);
  ASSERT_OK(db()->CompactRange(CompactRangeOptions(), handle("one"), nullptr, nullptr));
  Fill("one", 10);
  std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions(), handle("one")));
  PinnableSlice pinned;
  ASSERT_OK(db()->Get(ReadOptions(), handle("one"), FillKey(5), &pinned));
  ASSERT_GT(UsedBytes(), before + 200000);
  ASSERT_OK(db()->DropColumnFamily(handle("one")));
  EXPECT_TRUE(Holds("one", FillModel(2000))) << "a handle is live";
  Forget("one");
  ASSERT_GT(UsedBytes(), before + 200000) << "an iterator is live";
  uint64_t seen = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) ++seen;
  EXPECT_EQ(seen, 2000u);
  it.reset();
  EXPECT_EQ(pinned, FillValue(5));
  pinned.Reset();
  WaitUntil([&] { return UsedBytes() < before + 100000; });
  EXPECT_EQ(IntProperty(db(), "pmlsm.num-column-families"), 1u);
  Reopen();
  EXPECT_EQ(List({"default"}), (std::vector<std::string>{"default"}));
}

// OP-2 for handles.
TEST_F(ColumnFamilyTest, OP2HandlesOutliveTheDB) {
  Open({"default", "one", "two"});
  ASSERT_OK(db()->Put(WriteOptions(), handle("one"), "k", "v"));
  ASSERT_OK(db()->DropColumnFamily(handle("two")));
  ColumnFamilyHandle* const one = Take("one");
  ColumnFamilyHandle* const two = Take("two");
  ASSERT_OK(db()->Close());
  std::string value;
  for (ColumnFamilyHandle* handle : {one, two}) {
    EXPECT_TRUE(db()->Get(ReadOptions(), handle, "k", &value).IsAborted());
    std::vector<std::string> values;
    EXPECT_TRUE(db()->MultiGet(ReadOptions(), {handle}, {"k"}, &values)[0].IsAborted());
    for (const Status& s : db()->MultiGet(ReadOptions(), {one, two}, {"k", "k"}, &values)) {
      EXPECT_TRUE(s.IsAborted()) << s.ToString();
    }
    EXPECT_EQ(values, std::vector<std::string>(2));
    EXPECT_TRUE(db()->Put(WriteOptions(), handle, "k", "v").IsAborted() || handle == two);
    const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions(), handle));
    EXPECT_TRUE(it->status().IsAborted());
    EXPECT_TRUE(db()->DropColumnFamily(handle).IsAborted());
  }
  delete two;
  Close();
  EXPECT_EQ(one->GetName(), "one");
  delete one;
}

TEST_F(ColumnFamilyTest, CloseRefusesWhileADroppedFamilyIsRead) {
  Open({"default", "one"});
  ASSERT_OK(db()->Put(WriteOptions(), handle("one"), "k", "v"));
  PinnableSlice pinned;
  ASSERT_OK(db()->Get(ReadOptions(), handle("one"), "k", &pinned));
  Drop("one");
  EXPECT_TRUE(db()->Close().IsAborted());
  EXPECT_EQ(pinned, "v");
  pinned.Reset();
  EXPECT_OK(db()->Close());
}

TEST_F(ColumnFamilyTest, WhatIsReadOutlivesTheDB) {
  Open({"default", "one"});
  Fill("one", 500);
  ASSERT_OK(db()->Flush(FlushOptions(), handle("one")));
  std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions(), handle("one")));
  Drop("one");
  Close();
  uint64_t seen = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) ++seen;
  EXPECT_EQ(seen, 500u);
  EXPECT_OK(it->status());
}

TEST_F(ColumnFamilyTest, AnEmptyFamilyDoesNotHoldTheLog) {
  Open({"default", "idle"});
  for (int round = 0; round < 20; ++round) Fill("default", 2000);
  ASSERT_OK(db()->Flush());
  EXPECT_LE(IntProperty(db(), "pmlsm.log-bytes"), 3 * (uint64_t{64} << 10));
}

TEST_F(ColumnFamilyTest, PastTheLogsBoundWhoHoldsItIsFlushed) {
  options().max_total_wal_bytes = 512 << 10;
  Open({"default", "idle"});
  ASSERT_OK(db()->Put(WriteOptions(), handle("idle"), "k", "v"));
  for (int round = 0; round < 20; ++round) {
    Fill("default", 2000);
    EXPECT_LE(IntProperty(db(), "pmlsm.log-bytes"), uint64_t{768} << 10) << round;
  }
  uint64_t runs = 0;
  ASSERT_TRUE(db()->GetIntProperty(handle("idle"), "pmlsm.total-run-bytes", &runs));
  EXPECT_GT(runs, 0u) << "it was flushed";
  EXPECT_TRUE(Holds("idle", {{"k", "v"}}));
  Kill();
  EXPECT_TRUE(Holds("idle", {{"k", "v"}}));
  EXPECT_TRUE(Holds("default", FillModel(2000)));
}

TEST_F(ColumnFamilyTest, AllMemtablesKeepToOneBudget) {
  constexpr uint64_t kBudget = 512 << 10;
  options().db_write_buffer_size = kBudget;
  std::vector<std::string> names = {"default"};
  for (int i = 1; i < 8; ++i) names.push_back("f" + std::to_string(i));
  for (const std::string& name : names) family_options(name).write_buffer_size = 256 << 10;
  Open(names);
  Random random(7);
  uint64_t most = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string& name = names[random.Uniform(names.size())];
    ASSERT_OK(db()->Put(WriteOptions(), handle(name), FillKey(i), FillValue(i)));
    if (i % 50 != 0) continue;
    uint64_t bytes = 0;
    ASSERT_TRUE(db()->GetAggregatedIntProperty("pmlsm.cur-size-all-mem-tables", &bytes));
    most = std::max(most, bytes);
  }
  EXPECT_LE(most, kBudget + (kBudget >> 3));
  EXPECT_GE(most, kBudget / 4) << "the budget is used";
}

TEST_F(ColumnFamilyTest, WritersWaitForTheBudgetNotForEver) {
  options().db_write_buffer_size = 128 << 10;
  Open({"default", "one"});
  ASSERT_OK(db()->PauseBackgroundWork());
  std::atomic<int> written{0};
  std::thread writer([&] {
    for (int i = 0; i < 3000; ++i) {
      ASSERT_OK(db()->Put(WriteOptions(), handle(i % 2 == 0 ? "default" : "one"), FillKey(i), FillValue(i)));
      ++written;
    }
  });
  WaitUntil([&] { return written > 200; });
  ASSERT_OK(db()->ContinueBackgroundWork());
  writer.join();
  EXPECT_EQ(written, 3000);
}

TEST_F(ColumnFamilyTest, AFullManifestRefusesMoreFamilies) {
  Open({"default"});
  Status s;
  int created = 0;
  for (; s.ok() && created < 2000; ++created) {
    ColumnFamilyHandle* more = nullptr;
    const std::string name = "family " + std::to_string(created);
    s = db()->CreateColumnFamily(FamilyOptions(), name, &more);
    if (s.ok()) Adopt(name, more);
  }
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  EXPECT_GT(created, 100);
  ASSERT_OK(db()->Put(WriteOptions(), "k", "v"));
  for (int i = 0; i < created - 1; i += 7)
    ASSERT_OK(db()->Put(WriteOptions(), handle("family " + std::to_string(i)), "k", std::to_string(i)));
  Reopen();
  EXPECT_TRUE(Holds("family 7", {{"k", "7"}}));
  Drop("family 3");
  Create("one more");
}

TEST_F(ColumnFamilyTest, WithoutTheLogOneFlushKeepsABatchWhole) {
  Open({"default", "one"});
  WriteOptions no_log;
  no_log.disableWAL = true;
  WriteBatch batch;
  ASSERT_OK(batch.Put("k", "0"));
  ASSERT_OK(batch.Put(handle("one"), "k", "1"));
  ASSERT_OK(db()->Write(no_log, &batch));
  ASSERT_OK(db()->Flush(FlushOptions(), {handle("default"), handle("one")}));
  Kill();
  EXPECT_TRUE(Holds("default", {{"k", "0"}}));
  EXPECT_TRUE(Holds("one", {{"k", "1"}}));
}

TEST_F(ColumnFamilyTest, FlushesAndMergesAreAFamilysOwn) {
  Open({"default", "one"});
  Fill("default", 10);
  Fill("one", 10);
  ASSERT_OK(db()->Flush(FlushOptions(), handle("one")));
  EXPECT_EQ(FamilyProperty("default", "pmlsm.total-run-bytes"), 0u);
  EXPECT_GT(FamilyProperty("one", "pmlsm.total-run-bytes"), 0u);
  EXPECT_EQ(FamilyProperty("one", "pmlsm.num-entries-active-mem-table"), 0u);
  EXPECT_EQ(FamilyProperty("default", "pmlsm.num-entries-active-mem-table"), 10u);
  ASSERT_OK(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ(FamilyProperty("default", "pmlsm.num-entries-active-mem-table"), 0u);
  uint64_t keys = 0;
  ASSERT_TRUE(db()->GetAggregatedIntProperty("pmlsm.estimate-num-keys", &keys));
  EXPECT_EQ(keys, 20u);
  EXPECT_FALSE(db()->GetAggregatedIntProperty("pmlsm.pmem-used-bytes", &keys)) << "it is the DB's";
}

TEST_F(ColumnFamilyTest, ASnapshotIsOfAllFamilies) {
  Open({"default", "one"});
  Fill("default", 100);
  Fill("one", 100);
  const Snapshot* const snapshot = db()->GetSnapshot();
  for (const char* name : {"default", "one"}) {
    for (int i = 0; i < 100; ++i) ASSERT_OK(db()->Delete(WriteOptions(), handle(name), FillKey(i)));
    ASSERT_OK(db()->CompactRange(CompactRangeOptions(), handle(name), nullptr, nullptr));
    ReadOptions then;
    then.snapshot = snapshot;
    EXPECT_TRUE(Holds(name, FillModel(100), then));
    EXPECT_TRUE(Holds(name, {}));
  }
  db()->ReleaseSnapshot(snapshot);
}

TEST_F(ColumnFamilyTest, CheckAndSalvageKnowFamilies) {
  family_options("two").comparator = ReverseBytewiseComparator();
  Open({"default", "one", "two", "gone"});
  Fill("default", 50);
  Fill("one", 700);
  Fill("gone", 60);
  ASSERT_OK(db()->Flush(FlushOptions(), handle("one")));
  for (int i = 0; i < 100; ++i) ASSERT_OK(db()->Delete(WriteOptions(), handle("one"), FillKey(600 + i)));
  Fill("two", 30);
  Drop("gone");
  const std::string killed = CopyAsKilled();
  Close();
  OfflineReport report;
  ASSERT_OK(CheckDB(TinyOptions(), killed, &report));
  EXPECT_TRUE(report.whole()) << report.damages[0].ToString();
  SalvageOptions salvage;
  salvage.options = TinyOptions();
  ASSERT_OK(SalvageDB(salvage, killed, killed + ".salvaged", &report));
  EXPECT_TRUE(report.whole());
  EXPECT_EQ(report.keys_copied, 680u);
  ASSERT_OK(OpenStatusAt(killed + ".salvaged", {"default", "one", "two"}));
  EXPECT_TRUE(Holds("default", FillModel(50)));
  EXPECT_TRUE(Holds("one", FillModel(600)));
  Model reverse(ComparatorLess{ReverseBytewiseComparator()});
  for (const auto& [key, value] : FillModel(30)) reverse[key] = value;
  EXPECT_TRUE(Holds("two", reverse));
}

// The log's middle is needed by nobody, its ends are: recovery must leave no gap, for the next recovery.
TEST_F(ColumnFamilyTest, RecoveryLeavesNoGapInTheLog) {
  Open({"default", "one", "two"});
  ASSERT_OK(db()->Put(WriteOptions(), "first", "v"));
  Fill("one", 2000);  // many segments
  ASSERT_OK(db()->Flush(FlushOptions(), handle("one")));
  ASSERT_OK(db()->Put(WriteOptions(), handle("two"), "last", "v"));
  const auto expect = [&](const char* when) {
    SCOPED_TRACE(when);
    EXPECT_TRUE(Holds("default", {{"first", "v"}}));
    EXPECT_TRUE(Holds("one", FillModel(2000)));
  };
  Kill();
  expect("killed once");
  Kill();
  expect("killed again");
  EXPECT_TRUE(Holds("two", {{"last", "v"}}));
  Fill("two", 100);
  Drop("two");  // and then its end by nobody either
  Kill();
  Kill();
  expect("after the drop");
}

// A family whose entries behind the damage are in runs already would go on from a state that the others lose.
TEST_F(ColumnFamilyTest, PointInTimeRecoveryTearsNoFamiliesApart) {
  options().wal_recovery_mode = WALRecoveryMode::kPointInTimeRecovery;
  Open({"default", "one"});
  ASSERT_OK(db()->Put(WriteOptions(), "first", "v"));
  ASSERT_OK(db()->Put(WriteOptions(), "second", std::string(1000, 'd')));
  ASSERT_OK(db()->Put(WriteOptions(), handle("one"), "third", "v"));
  ASSERT_OK(db()->Flush(FlushOptions(), handle("one")));
  ASSERT_OK(db()->Put(WriteOptions(), "fourth", "v"));
  const std::string killed = CopyAsKilled();
  Close();
  {
    PoolOptions pool_options;
    pool_options.set_dir = killed;
    pool_options.client_bytes = kManifestAreaBytes;
    std::unique_ptr<Pool> pool;
    ManifestState state;
    bool found = false;
    ASSERT_OK(Pool::Open(pool_options, &pool));
    ASSERT_OK(Manifest::Load(*pool, &state, &found));
    WalReader reader(pool.get(), state.segments, 0);
    WalReader::Record record;
    ASSERT_TRUE(reader.Next(&record));
    ASSERT_TRUE(reader.Next(&record));
    *pool->Writable(pool->ToOffset(record.payload.data()) + 500) ^= 4;
  }
  const Status s = OpenStatusAt(killed, {"default", "one"});
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find("one"), std::string::npos) << s.ToString();
}

}  // namespace
}  // namespace pmlsm
