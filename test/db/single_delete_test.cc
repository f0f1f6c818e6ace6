// SingleDelete by its contract: it removes the one Put before it, whatever lies between the two, and takes no space
// once both have met.
#include "db/offline.h"
#include "test/db/family_test_support.h"

namespace pmlsm {
namespace {

constexpr int kKeys = 300;

class SingleDeleteTest : public FamilyTest {
 protected:
  // Neighbours in a run that is older than what comes: a flush cannot prove that nothing older holds the keys.
  void PutRunAround() {
    ASSERT_OK(db()->Put(WriteOptions(), "a", "first"));
    ASSERT_OK(db()->Put(WriteOptions(), "z", "last"));
    ASSERT_OK(db()->Flush());
  }
  uint64_t EntriesInRuns() {
    return FamilyProperty("default", "pmlsm.estimate-num-keys") -
           FamilyProperty("default", "pmlsm.num-entries-active-mem-table");
  }
};

TEST_F(SingleDeleteTest, RemovesTheOnePutInEachState) {
  Open({"default", "one"});
  Fill("default", 50);
  Fill("one", 50);
  Model model = FillModel(50);
  for (int i = 0; i < 50; i += 3) {
    ASSERT_OK(db()->SingleDelete(WriteOptions(), FillKey(i)));
    ASSERT_OK(db()->SingleDelete(WriteOptions(), handle("one"), FillKey(i)));
    model.erase(FillKey(i));
  }
  WriteBatch batch;
  ASSERT_OK(batch.Put("in the batch", "v"));
  ASSERT_OK(batch.SingleDelete("in the batch"));
  ASSERT_OK(batch.SingleDelete(FillKey(1)));
  ASSERT_OK(batch.SingleDelete(handle("one"), FillKey(1)));
  ASSERT_OK(batch.SingleDelete("never there"));
  ASSERT_OK(db()->Write(WriteOptions(), &batch));
  model.erase(FillKey(1));
  ExpectInEachState([&] {
    EXPECT_TRUE(Holds("default", model));
    EXPECT_TRUE(Holds("one", model));
    ExpectHolds(db(), model, {FillKey(0), FillKey(1), "in the batch", "never there"});
  });
}

// Each key is put and removed by turns; wherever the two records lie, the DB holds what a map does.
class SingleDeleteWalk : public SingleDeleteTest,
                         public ::testing::WithParamInterface<std::tuple<CompactionStyle, MemTableType>> {};

TEST_P(SingleDeleteWalk, PutAndSingleDeleteByTurnsAgreeWithAMap) {
  const uint64_t seed = SeedFromEnvironment("PMLSM_SINGLE_DELETE_SEED", 20250203);
  SCOPED_TRACE("PMLSM_SINGLE_DELETE_SEED=" + std::to_string(seed));
  Random random(seed);
  family_options("default").compaction_style = std::get<0>(GetParam());
  family_options("default").memtable = std::get<1>(GetParam());
  family_options("default").write_buffer_size = 16 << 10;
  Open({"default"});
  Model model;
  struct Held {
    const Snapshot* snapshot;
    Model model;
  };
  std::vector<Held> held;
  const auto release = [&] {
    for (const Held& each : held) db()->ReleaseSnapshot(each.snapshot);
    held.clear();
  };
  for (int step = 0; step < 3000 && !HasFatalFailure(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    const std::string key = FillKey(static_cast<int>(random.Uniform(100)));
    const auto there = model.find(key);
    if (there == model.end()) {
      model[key] = std::to_string(step) + std::string(random.Uniform(100), 'v');
      ASSERT_OK(db()->Put(WriteOptions(), key, model[key]));
    } else {
      ASSERT_OK(db()->SingleDelete(WriteOptions(), key));
      model.erase(there);
    }
    if (random.OneIn(60)) {
      ASSERT_OK(db()->Flush());
    }
    if (random.OneIn(40) && held.size() < 4) held.push_back({db()->GetSnapshot(), model});
    if (random.OneIn(300)) {
      ASSERT_OK(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    }
    if (random.OneIn(50)) {
      ExpectHolds(db(), model, {key});
      for (const Held& each : held) {
        ReadOptions then;
        then.snapshot = each.snapshot;
        ExpectHolds(db(), each.model, {key}, then);
      }
    }
    if (random.OneIn(200)) release();
    if (random.OneIn(500)) {
      release();
      random.OneIn(2) ? Reopen() : Kill();
    }
  }
  release();
  ExpectHolds(db(), model);
}

INSTANTIATE_TEST_SUITE_P(Shapes, SingleDeleteWalk,
                         ::testing::Combine(::testing::Values(CompactionStyle::kTiered,
                                                              CompactionStyle::kLeveled,
                                                              CompactionStyle::kLazyLeveled),
                                            ::testing::Values(MemTableType::kSorted, MemTableType::kHash)),
                         [](const auto& info) {
                           std::string name = std::string(ToString(std::get<0>(info.param))) + "_" +
                                              ToString(std::get<1>(info.param));
                           for (char& c : name) c = isalnum(static_cast<unsigned char>(c)) ? c : '_';
                           return name;
                         });

// Where a Delete has to stay, because an older run may hold its key.
TEST_F(SingleDeleteTest, GoesTogetherWithItsPutInAFlush) {
  for (const bool single : {true, false}) {
    SCOPED_TRACE(single ? "SingleDelete" : "Delete");
    family_options("default").disable_auto_compactions = true;  // a run of deletions would be merged soon
    Open({"default"});
    PutRunAround();
    for (int i = 0; i < kKeys; ++i) {
      ASSERT_OK(db()->Put(WriteOptions(), FillKey(i), "v"));
      ASSERT_OK(single ? db()->SingleDelete(WriteOptions(), FillKey(i))
                       : db()->Delete(WriteOptions(), FillKey(i)));
    }
    ASSERT_OK(db()->Flush());
    EXPECT_EQ(EntriesInRuns(), single ? 2u : 2u + kKeys);
    EXPECT_TRUE(Holds("default", {{"a", "first"}, {"z", "last"}}));
    ASSERT_OK(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
    EXPECT_EQ(EntriesInRuns(), 2u);
    Close();
    ASSERT_OK(DestroyDB(path(), Options()));
  }
}

TEST_F(SingleDeleteTest, StaysWhileItsPutMayLieInAnOlderRun) {
  family_options("default").disable_auto_compactions = true;
  Open({"default"});
  Fill("default", kKeys);
  ASSERT_OK(db()->Flush());
  for (int i = 0; i < kKeys; ++i) ASSERT_OK(db()->SingleDelete(WriteOptions(), FillKey(i)));
  ASSERT_OK(db()->Flush());
  EXPECT_EQ(EntriesInRuns(), 2u * kKeys);
  EXPECT_TRUE(Holds("default", {}));
  Kill();
  EXPECT_TRUE(Holds("default", {}));
  ASSERT_OK(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ(EntriesInRuns(), 0u);
  EXPECT_TRUE(Holds("default", {}));
}

TEST_F(SingleDeleteTest, ASnapshotBetweenTheTwoKeepsItsValue) {
  Open({"default"});
  PutRunAround();
  ASSERT_OK(db()->Put(WriteOptions(), "k", "v"));
  const Snapshot* const snapshot = db()->GetSnapshot();
  ASSERT_OK(db()->SingleDelete(WriteOptions(), "k"));
  ReadOptions then;
  then.snapshot = snapshot;
  const Model before = {{"a", "first"}, {"k", "v"}, {"z", "last"}};
  const Model after = {{"a", "first"}, {"z", "last"}};
  for (const char* const state : {"memtable", "flushed", "merged"}) {
    SCOPED_TRACE(state);
    ExpectHolds(db(), before, {}, then);
    ExpectHolds(db(), after, {"k"});
    ASSERT_OK(std::string(state) == "memtable" ? db()->Flush()
                                               : db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  }
  db()->ReleaseSnapshot(snapshot);
  ASSERT_OK(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  EXPECT_EQ(EntriesInRuns(), 2u);
  ExpectHolds(db(), after, {"k"});
}

TEST_F(SingleDeleteTest, MisuseOfTheCallChangesNothing) {
  Open({"default", "one"});
  Fill("default", 3);
  Fill("one", 3);
  const SequenceNumber before = db()->GetLatestSequenceNumber();
  ColumnFamilyHandle* const dropped = handle("one");
  ASSERT_OK(db()->DropColumnFamily(dropped));
  EXPECT_TRUE(db()->SingleDelete(WriteOptions(), dropped, FillKey(0)).IsInvalidArgument());
  EXPECT_TRUE(db()->SingleDelete(WriteOptions(), nullptr, FillKey(0)).IsInvalidArgument());
  EXPECT_TRUE(db()->SingleDelete(WriteOptions(), std::string(kMaxKeyBytes + 1, 'k')).IsInvalidArgument());
  WriteBatch batch;
  ASSERT_OK(batch.SingleDelete(FillKey(0)));
  ASSERT_OK(batch.SingleDelete(dropped, FillKey(0)));
  EXPECT_TRUE(db()->Write(WriteOptions(), &batch).IsInvalidArgument());
  EXPECT_EQ(db()->GetLatestSequenceNumber(), before);
  EXPECT_TRUE(Holds("default", FillModel(3)));
  EXPECT_TRUE(Holds("one", FillModel(3)));
}

TEST_F(SingleDeleteTest, CheckAndSalvageTakeItForADeletion) {
  Open({"default", "one"});
  Fill("default", 10);
  Fill("one", 10);
  ASSERT_OK(db()->Flush());
  ASSERT_OK(db()->SingleDelete(WriteOptions(), FillKey(3)));                 // Put in a run, this in the log
  ASSERT_OK(db()->SingleDelete(WriteOptions(), handle("one"), FillKey(4)));  // both in the log
  const std::string killed = CopyAsKilled();
  Close();
  OfflineReport report;
  ASSERT_OK(CheckDB(TinyOptions(), killed, &report));
  EXPECT_TRUE(report.whole()) << report.damages[0].ToString();
  SalvageOptions salvage;
  salvage.options = TinyOptions();
  ASSERT_OK(SalvageDB(salvage, killed, killed + ".salvaged", &report));
  EXPECT_TRUE(report.whole());
  ASSERT_OK(OpenStatusAt(killed + ".salvaged", {"default", "one"}));
  Model model = FillModel(10);
  model.erase(FillKey(3));
  EXPECT_TRUE(Holds("default", model));
  model = FillModel(10);
  model.erase(FillKey(4));
  EXPECT_TRUE(Holds("one", model));
}

}  // namespace
}  // namespace pmlsm
