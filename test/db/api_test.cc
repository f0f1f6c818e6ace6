// What a caller may do and what must come of it. Names begin with the id of the case that a test retells.
#include <algorithm>
#include <set>

#include "test/db/db_test_support.h"

namespace pmlsm {
namespace {

// Every test runs in both memtables and merge orders.
struct Kind {
  MemTableType memtable;
  MergeOrder merge_order;
  FailureAtomicity failure_atomicity;
};

class ApiTest : public ::testing::TestWithParam<Kind> {
 protected:
  ApiTest() : options_(TinyOptions()) {
    options_.memtable = GetParam().memtable;
    options_.merge_order = GetParam().merge_order;
    options_.failure_atomicity = GetParam().failure_atomicity;
  }
  std::string path() const { return dir_ / "db"; }
  void Open() { ASSERT_OK(DB::Open(options_, path(), &db_)); }
  void Reopen() {
    if (db_ != nullptr) ASSERT_OK(db_->Close());
    db_.reset();
    Open();
  }
  // As a kill would leave it.
  void KillAndReopen() {
    ASSERT_OK(db_->WaitForCompact());
    CopyTree(path(), dir_ / "copy");
    db_.reset();
    std::filesystem::remove_all(path());
    std::filesystem::rename(dir_ / "copy", path());
    Open();
  }
  void Put(const std::string& key, const std::string& value) {
    ASSERT_OK(db_->Put({}, key, value));
    model_[key] = value;
  }
  void Delete(const std::string& key) {
    ASSERT_OK(db_->Delete({}, key));
    model_.erase(key);
  }
  // In a memtable, after Flush, after CompactRange, after reopen, after a kill.
  void ExpectInEveryState(const std::vector<std::string>& probes = {}) {
    const auto check = [&](const char* state) {
      SCOPED_TRACE(state);
      ExpectHolds(db_.get(), model_, probes);
    };
    ASSERT_NO_FATAL_FAILURE(check("as written"));
    ASSERT_NO_FATAL_FAILURE(KillAndReopen());
    ASSERT_NO_FATAL_FAILURE(check("replayed"));
    ASSERT_OK(db_->Flush());
    ASSERT_NO_FATAL_FAILURE(check("flushed"));
    ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
    ASSERT_NO_FATAL_FAILURE(check("merged"));
    ASSERT_NO_FATAL_FAILURE(Reopen());
    ASSERT_NO_FATAL_FAILURE(check("reopened"));
  }

  TestDir dir_;
  Options options_;
  std::unique_ptr<DB> db_;
  Model model_;
};

// ---- Keys and values ----

TEST_P(ApiTest, KV1_AwkwardKeysAreKeysLikeOthers) {
  Open();
  const std::vector<std::string> keys = {"",
                                         std::string(1, '\0'),
                                         std::string(2, '\0'),
                                         "a",
                                         std::string("a\0b", 3),
                                         "\xff",
                                         "\xff\xff\xff",
                                         std::string(kMaxKeyBytes, 'k'),
                                         std::string(kMaxKeyBytes - 1, 'k')};
  for (const std::string& key : keys) Put(key, "value of " + Show(key));
  ExpectInEveryState({"\xff\xff\xff\xff", std::string(3, '\0'), "b"});
  ReadOptions read;
  const Slice prefix("a");
  const Slice prefix_end("b");
  read.iterate_lower_bound = &prefix;
  read.iterate_upper_bound = &prefix_end;
  const std::unique_ptr<Iterator> it(db_->NewIterator(read));
  std::vector<std::string> found;
  for (it->SeekToFirst(); it->Valid(); it->Next()) found.push_back(it->key().ToString());
  EXPECT_EQ(found, (std::vector<std::string>{"a", std::string("a\0b", 3)}));
}

TEST_P(ApiTest, KV2_ValuesOfAnySizeAreStoredWhole) {
  Open();
  Random random(1);
  const size_t sizes[] = {0,         1,
                          15,        16,
                          63,        64,
                          255,       256,
                          1000,      4095,
                          4096,      4097,
                          32 << 10,  (32 << 10) + 1,
                          64 << 10,  96 << 10,
                          200 << 10, 300 << 10,
                          1 << 20,   (5 << 20) + 17};
  for (const size_t size : sizes) Put("size" + std::to_string(size), RandomBytes(&random, size));
  ExpectInEveryState({"size"});
  for (const size_t size : sizes) Put("size" + std::to_string(size), RandomBytes(&random, size / 2));
  ExpectInEveryState({"size"});
}

// Keys whose records are larger than a log segment.
TEST_P(ApiTest, LongKeysCanBeDeleted) {
  Open();
  for (const size_t bytes : {size_t{31} << 10, size_t{33} << 10, kMaxKeyBytes}) {
    const std::string key(bytes, 'k');
    Put(key, "v");
    ASSERT_OK(db_->Delete({}, key));
    model_.erase(key);
    EXPECT_TRUE(GetIs(db_.get(), {}, key, std::nullopt));
  }
  ExpectInEveryState({"k"});
}

TEST_P(ApiTest, KV2_KeysAndValuesOverTheLimitAreRefusedAndNothingIsLogged) {
  Open();
  Put("before", "1");
  const std::string key(kMaxKeyBytes + 1, 'k');
  const SequenceNumber sequence = db_->GetLatestSequenceNumber();
  EXPECT_TRUE(db_->Put({}, key, "v").IsInvalidArgument());
  EXPECT_TRUE(db_->Delete({}, key).IsInvalidArgument());
  // Never touched by the library, so one page is enough to stand for it.
  const std::string small(1, 'v');
  const Slice huge(small.data(), kMaxValueBytes + 1);
  EXPECT_TRUE(db_->Put({}, "k", huge).IsInvalidArgument());
  EXPECT_TRUE(db_->Put({}, "k", Slice(small.data(), (size_t{4} << 30) + 1)).IsInvalidArgument());
  WriteBatch batch;
  ASSERT_OK(batch.Put("in batch", "1"));
  EXPECT_TRUE(batch.Put("k", huge).IsInvalidArgument());
  EXPECT_TRUE(batch.Put(key, "v").IsInvalidArgument());
  EXPECT_TRUE(batch.Delete(key).IsInvalidArgument());
  EXPECT_EQ(batch.Count(), 1u);
  EXPECT_EQ(db_->GetLatestSequenceNumber(), sequence);
  std::string value;
  EXPECT_TRUE(db_->Get({}, key, &value).IsNotFound());
  ASSERT_OK(db_->Write({}, &batch));
  model_["in batch"] = "1";
  Put("after", "2");
  ExpectInEveryState();
}

// ---- Batches ----

TEST_P(ApiTest, WB1_TheLastChangeOfAKeyInABatchWins) {
  Open();
  Put("f", "old");
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "1"));
  ASSERT_OK(batch.Delete("a"));
  ASSERT_OK(batch.Put("b", "1"));
  ASSERT_OK(batch.Put("b", "2"));
  ASSERT_OK(batch.Delete("c"));
  ASSERT_OK(batch.Put("c", "3"));
  ASSERT_OK(batch.Delete("f"));
  ASSERT_OK(batch.Put("f", "1"));
  ASSERT_OK(batch.Delete("f"));
  ASSERT_OK(db_->Write({}, &batch));
  model_ = {{"b", "2"}, {"c", "3"}};
  ExpectInEveryState({"a", "f"});
}

TEST_P(ApiTest, WB2_ABatchLargerThanMemTableAndLogSegmentIsWhole) {
  Open();
  Random random(2);
  Put("x", "1");
  WriteBatch batch;
  for (int i = 0; i < 2000; ++i) {
    const std::string key = "key" + std::to_string(random.Uniform(3000));
    model_[key] = RandomBytes(&random, 1000);
    ASSERT_OK(batch.Put(key, model_[key]));
  }
  ASSERT_OK(db_->Write({}, &batch));
  ASSERT_NO_FATAL_FAILURE(KillAndReopen());
  ExpectHolds(db_.get(), model_, {"y"});
  ASSERT_OK(db_->Write({}, &batch));  // the same again
  ExpectInEveryState();
}

TEST_P(ApiTest, WB2_ABatchLargerThanThePoolIsNoSpaceAndChangesNothing) {
  Open();
  Put("x", "1");
  WriteBatch batch;
  for (int i = 0; i < 100; ++i) ASSERT_OK(batch.Put("key" + std::to_string(i), std::string(1 << 20, 'v')));
  const SequenceNumber sequence = db_->GetLatestSequenceNumber();
  const Status s = db_->Write({}, &batch);
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
  EXPECT_EQ(db_->GetLatestSequenceNumber(), sequence);
  Put("y", "2");
  ExpectInEveryState({"key1"});
}

TEST_P(ApiTest, AnEmptyBatchIsOKAndADamagedOneIsRefusedWhole) {
  Open();
  WriteBatch empty;
  ASSERT_OK(db_->Write({}, &empty));
  EXPECT_TRUE(db_->Write({}, nullptr).IsInvalidArgument());
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "1"));
  ASSERT_OK(batch.Put("b", "2"));
  const std::string good = batch.Data();
  for (size_t bytes = 0; bytes < good.size(); ++bytes) {
    WriteBatch cut(good.substr(0, bytes));
    EXPECT_FALSE(db_->Write({}, &cut).ok()) << bytes;
  }
  const auto with_type = [&good](char type) {
    std::string rep = good;
    rep[12] = type;
    return WriteBatch(rep);
  };
  for (const char type : {2, 4, 5, 6, 7, 8}) {
    WriteBatch unknown = with_type(type);
    EXPECT_TRUE(db_->Write({}, &unknown).IsNotSupported());
  }
  // Deletion and SingleDeletion have no value: its bytes are then taken for an entry.
  for (const char type : {0, 3}) {
    WriteBatch damaged = with_type(type);
    EXPECT_TRUE(db_->Write({}, &damaged).IsCorruption());
  }
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 0u);
  WriteBatch whole(good);
  ASSERT_OK(db_->Write({}, &whole));
  model_ = {{"a", "1"}, {"b", "2"}};
  ExpectInEveryState();
}

// ---- Write options ----

TEST_P(ApiTest, WritesWithoutSyncSurviveAKill) {
  Open();
  WriteOptions unsynced;
  unsynced.sync = false;
  for (int i = 0; i < 2000; ++i) {
    const std::string key = "key" + std::to_string(i % 700);
    model_[key] = std::to_string(i);
    ASSERT_OK(db_->Put(i % 5 == 0 ? WriteOptions() : unsynced, key, model_[key]));
  }
  ASSERT_NO_FATAL_FAILURE(KillAndReopen());
  ExpectInEveryState();
}

TEST_P(ApiTest, WritesWithoutLogSurviveAFlushOrACloseAndNothingElse) {
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  Open();
  ASSERT_OK(db_->Put(unlogged, "flushed", "1"));
  ASSERT_OK(db_->Flush());
  ASSERT_OK(db_->Put(unlogged, "lost", "1"));
  Put("logged", "1");
  model_["flushed"] = "1";
  ASSERT_NO_FATAL_FAILURE(KillAndReopen());
  ExpectHolds(db_.get(), model_, {"lost"});
  ASSERT_OK(db_->Put(unlogged, "closed", "1"));
  model_["closed"] = "1";
  ASSERT_NO_FATAL_FAILURE(Reopen());
  ExpectHolds(db_.get(), model_, {"lost"});
  // Sequence numbers never go back, also over a gap in the log.
  for (int i = 0; i < 3000; ++i) {
    const std::string key = "key" + std::to_string(i % 100);
    model_[key] = std::to_string(i);
    ASSERT_OK(db_->Put(i % 3 == 0 ? WriteOptions() : unlogged, key, model_[key]));
  }
  ExpectHolds(db_.get(), model_);
  ASSERT_NO_FATAL_FAILURE(Reopen());
  ExpectHolds(db_.get(), model_);
}

// ---- Iterators ----

TEST_P(ApiTest, IT1_PrevAfterSeekUnderUpperBound) {
  Open();
  for (const std::string key : {"a", "p", "p1", "p2", "p3", "q"}) Put(key, "run");
  ASSERT_OK(db_->Flush());
  for (const std::string key : {"a", "c", "e", "q"}) Put(key, "memtable");
  for (int i = 0; i < 11; ++i) Put("e", std::to_string(i));
  const Snapshot* const snapshot = db_->GetSnapshot();
  const std::string at_snapshot = model_["e"];
  Put("e", "last");
  for (const bool old : {false, true}) {
    ReadOptions read;
    read.snapshot = old ? snapshot : nullptr;
    const Slice upper("m");
    read.iterate_upper_bound = &upper;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    it->Seek("e");
    for (const std::string want : {"e", "c", "a"}) {
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(it->key(), want);
      if (want == "e") {
        EXPECT_EQ(it->value(), old ? at_snapshot : "last");
      }
      it->Prev();
    }
    EXPECT_FALSE(it->Valid());
    EXPECT_OK(it->status());
    for (const std::string target : {"", "zz", "m"}) {
      target.empty() ? it->SeekToLast() : it->SeekForPrev(target);
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(it->key(), Slice("e"));
    }
  }
  db_->ReleaseSnapshot(snapshot);
}

TEST_P(ApiTest, IT2_TargetsOutsideTheBoundsAreClamped) {
  Open();
  for (const std::string key : {"a", "b", "c", "d", "e", "f"}) Put(key, key);
  for (const bool flushed : {false, true}) {
    if (flushed) ASSERT_OK(db_->Flush());
    ReadOptions read;
    auto lower_bytes = std::make_unique<std::string>("c");
    auto upper_bytes = std::make_unique<std::string>("e");
    Slice lower(*lower_bytes);
    Slice upper(*upper_bytes);
    read.iterate_lower_bound = &lower;
    read.iterate_upper_bound = &upper;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    lower_bytes.reset();
    upper_bytes.reset();
    const auto at = [&it] { return it->Valid() ? it->key().ToString() : "invalid"; };
    it->Seek("a");
    EXPECT_EQ(at(), "c");
    it->SeekForPrev("z");
    EXPECT_EQ(at(), "d");
    it->SeekForPrev("e");
    EXPECT_EQ(at(), "d");
    it->SeekForPrev("b");
    EXPECT_EQ(at(), "invalid");
    it->Seek("e");
    EXPECT_EQ(at(), "invalid");
    it->SeekToFirst();
    EXPECT_EQ(at(), "c");
    it->SeekToLast();
    EXPECT_EQ(at(), "d");

    lower = Slice("e");
    upper = Slice("c");
    const std::unique_ptr<Iterator> none(db_->NewIterator(read));
    for (int move = 0; move < 5; ++move) {
      if (move == 0) none->SeekToFirst();
      if (move == 1) none->SeekToLast();
      if (move == 2) none->Seek("d");
      if (move == 3) none->SeekForPrev("d");
      if (move == 4) none->SeekForPrev("z");
      EXPECT_FALSE(none->Valid());
      EXPECT_OK(none->status());
    }
  }
}

TEST_P(ApiTest, IT3_AnIteratorThatRanOffItsRangeCanBePlacedAgain) {
  Open();
  Put("k08", "1");
  Put("k11", "2");
  ReadOptions read;
  const Slice lower("k00");
  const Slice upper("k09");
  read.iterate_lower_bound = &lower;
  read.iterate_upper_bound = &upper;
  const std::unique_ptr<Iterator> it(db_->NewIterator(read));
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid() && it->key() == "k08");
  it->Next();
  ASSERT_FALSE(it->Valid());
  it->SeekToLast();
  ASSERT_TRUE(it->Valid() && it->key() == "k08");
  it->Prev();
  ASSERT_FALSE(it->Valid());
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid() && it->key() == "k08");
}

TEST_P(ApiTest, IT3_TenThousandRandomStepsNeverDiffer) {
  const uint64_t seed = SeedFromEnvironment("PMLSM_SEED", 7);
  printf("PMLSM_SEED=%lu\n", static_cast<unsigned long>(seed));
  Random random(seed);
  Open();
  const auto key = [&random] { return "k" + std::to_string(100 + random.Uniform(300)); };
  for (int i = 0; i < 4000; ++i) {
    if (random.OneIn(3)) {
      Delete(key());
    } else {
      Put(key(), std::to_string(i));
    }
    if (random.OneIn(700)) ASSERT_OK(db_->Flush());
  }
  ReadOptions read;
  const Slice lower("k120");
  const Slice upper("k370");
  read.iterate_lower_bound = &lower;
  read.iterate_upper_bound = &upper;
  const std::unique_ptr<Iterator> it(db_->NewIterator(read));
  Model in_bounds(model_.lower_bound("k120"), model_.lower_bound("k370"));
  auto at = in_bounds.end();
  for (int step = 0; step < 10000; ++step) {
    const std::string target = key();
    switch (random.Uniform(it->Valid() ? 12 : 4)) {
      case 0:
        it->Seek(target);
        at = in_bounds.lower_bound(target);
        break;
      case 1:
        it->SeekForPrev(target);
        at = in_bounds.upper_bound(target);
        at = at == in_bounds.begin() ? in_bounds.end() : std::prev(at);
        break;
      case 2:
        it->SeekToFirst();
        at = in_bounds.begin();
        break;
      case 3:
        it->SeekToLast();
        at = std::prev(in_bounds.end());
        break;
      default:
        if (random.OneIn(2)) {
          it->Next();
          ++at;
        } else {
          it->Prev();
          at = at == in_bounds.begin() ? in_bounds.end() : std::prev(at);
        }
    }
    ASSERT_TRUE(IteratorIs(*it, in_bounds, at, "step " + std::to_string(step)));
  }
}

// ---- Merging ----

TEST_P(ApiTest, CP1_EverySnapshotOfManyVersionsKeepsItsOwn) {
  Open();
  std::vector<std::pair<const Snapshot*, std::string>> held;
  for (int i = 0; i < 2000; ++i) {
    Put("key", std::to_string(i) + std::string(500, 'v'));
    if (i % 20 == 0) held.emplace_back(db_->GetSnapshot(), model_["key"]);
  }
  const auto check = [&] {
    for (const auto& [snapshot, value] : held) {
      ReadOptions read;
      read.snapshot = snapshot;
      ExpectReadersAgree(db_.get(), read, Model{{"key", value}}, {"key", "kex", "kez"});
    }
    ExpectHolds(db_.get(), model_);
  };
  ASSERT_NO_FATAL_FAILURE(check());
  ASSERT_OK(db_->WaitForCompact());
  ASSERT_NO_FATAL_FAILURE(check());
  ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
  ASSERT_NO_FATAL_FAILURE(check());
  for (size_t i = 0; i < held.size(); i += 2) db_->ReleaseSnapshot(held[i].first);
  for (size_t i = held.size(); i-- > 0;) {
    if (i % 2 == 0) held.erase(held.begin() + i);
  }
  ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
  ASSERT_NO_FATAL_FAILURE(check());
  for (const auto& entry : held) db_->ReleaseSnapshot(entry.first);
  ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
  ExpectHolds(db_.get(), model_);
  EXPECT_EQ(IntProperty(db_.get(), "pmlsm.estimate-num-keys"), 1u);
}

TEST_P(ApiTest, CP1_RandomSnapshotsEqualTheirModels) {
  const uint64_t seed = SeedFromEnvironment("PMLSM_SEED", 8);
  printf("PMLSM_SEED=%lu\n", static_cast<unsigned long>(seed));
  Random random(seed);
  Open();
  std::vector<std::pair<const Snapshot*, Model>> held;
  for (int i = 1; i <= 12000; ++i) {
    const std::string key = "key" + std::to_string(random.Uniform(200));
    random.OneIn(3) ? Delete(key) : Put(key, std::to_string(i) + std::string(random.Uniform(60), 'v'));
    if (random.OneIn(300) && held.size() < 20) held.emplace_back(db_->GetSnapshot(), model_);
    if (random.OneIn(400) && !held.empty()) {
      const size_t which = random.Uniform(held.size());
      db_->ReleaseSnapshot(held[which].first);
      held.erase(held.begin() + which);
    }
    if (i % 3000 != 0) continue;
    for (const auto& [snapshot, model] : held) {
      ReadOptions read;
      read.snapshot = snapshot;
      ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model, {"key", "kez"}, read));
    }
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
  }
  for (const auto& entry : held) db_->ReleaseSnapshot(entry.first);
}

TEST_P(ApiTest, CP2_DeletedHalfStaysDeletedAfterMerges) {
  const uint64_t seed = SeedFromEnvironment("PMLSM_SEED", 9);
  printf("PMLSM_SEED=%lu\n", static_cast<unsigned long>(seed));
  Random random(seed);
  Open();
  constexpr int kKeys = 6000;
  const auto name = [](char range, int i) { return std::string(1, range) + std::to_string(100000 + i); };
  for (int i = 0; i < kKeys; ++i) {
    Put(name('A', i), "a" + std::to_string(i));
    Put(name('B', i), "b" + std::to_string(i));
    if (i % 1000 == 0) ASSERT_OK(db_->Flush());
  }
  for (int i = 0; i < kKeys; ++i) Delete(name('B', i));
  for (int round = 0; round < 3; ++round) {
    std::string begin = name(random.OneIn(2) ? 'A' : 'B', random.Uniform(kKeys));
    std::string end = name('B', random.Uniform(kKeys));
    if (begin > end) begin.swap(end);
    const Slice begin_slice(begin);
    const Slice end_slice(end);
    ASSERT_OK(db_->CompactRange({}, &begin_slice, &end_slice));
    ExpectReadersAgree(db_.get(), {}, model_, {name('A', 5), name('B', 5)});
  }
  ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
  ExpectReadersAgree(db_.get(), {}, model_, {name('A', 5), name('B', 5)});
  EXPECT_EQ(IntProperty(db_.get(), "pmlsm.estimate-num-keys"), uint64_t{kKeys});  // no tombstone is left
  Reopen();
  ExpectReadersAgree(db_.get(), {}, model_, {name('A', 5), name('B', 5)});
}

TEST_P(ApiTest, CP3_SeveralRecordsOfAKeyInOneFlushAndTheOrderOfRuns) {
  Open();
  Put("f", "1");
  Delete("f");
  Put("f", "2");
  ASSERT_OK(db_->Flush());
  EXPECT_TRUE(GetIs(db_.get(), {}, "f", "2"));
  Put("k1", "old");
  ASSERT_OK(db_->Flush());
  Put("k0", "0");
  ASSERT_OK(db_->Flush());
  EXPECT_TRUE(GetIs(db_.get(), {}, "k1", "old"));
  EXPECT_TRUE(GetIs(db_.get(), {}, "k0", "0"));
  Put("k1", "new");
  ASSERT_OK(db_->Flush());
  EXPECT_TRUE(GetIs(db_.get(), {}, "k1", "new"));
  ExpectInEveryState({"k", "k2"});
}

// ---- PM-1: user bytes that look like the engine's own ----

TEST_P(ApiTest, PM1_CopiesOfRawPoolBytesAreValuesLikeOthers) {
  const uint64_t seed = SeedFromEnvironment("PMLSM_SEED", 10);
  printf("PMLSM_SEED=%lu\n", static_cast<unsigned long>(seed));
  Random random(seed);
  Open();
  for (int i = 0; i < 1500; ++i) {
    random.OneIn(4) ? Delete("key" + std::to_string(random.Uniform(300)))
                    : Put("key" + std::to_string(random.Uniform(300)), std::string(random.Uniform(200), 'v'));
  }
  ASSERT_OK(db_->Flush());
  for (int round = 0; round < 3; ++round) {
    // Frames, tombstones, run and table headers, the manifest: all that is not zero.
    const std::string raw = ReadFile(path() + "/parts/000000.pmem");
    std::vector<size_t> used;
    for (size_t at = 0; at + 4160 < raw.size(); at += 64) {
      const std::string_view line(raw.data() + at, 64);
      if (line.find_first_not_of('\0') != line.npos) used.push_back(at);
    }
    ASSERT_FALSE(used.empty());
    for (int i = 0; i < 500; ++i) {
      const size_t at = used[random.Uniform(used.size())] + (random.OneIn(2) ? 0 : random.Uniform(64));
      const size_t bytes = random.OneIn(8) ? 4096 : random.OneIn(2) ? 64 : 32;
      const std::string key =
          random.OneIn(2) ? raw.substr(at, 64) : "copy" + std::to_string(random.Uniform(400));
      random.OneIn(4) ? Delete(key) : Put(key, raw.substr(at, bytes));
      if (random.OneIn(100)) ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
    }
    ASSERT_NO_FATAL_FAILURE(KillAndReopen());
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Modes, ApiTest,
    ::testing::Values(Kind{MemTableType::kSorted, MergeOrder::kKWay, FailureAtomicity::kIndividual},
                      Kind{MemTableType::kHash, MergeOrder::k2Way, FailureAtomicity::kTransaction}),
    [](const ::testing::TestParamInfo<Kind>& info) {
      return std::string(ToString(info.param.memtable)) + "_" + ToString(info.param.merge_order) + "_" +
             ToString(info.param.failure_atomicity);
    });

}  // namespace
}  // namespace pmlsm
