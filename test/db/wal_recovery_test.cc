// What an open makes of a damaged log, in each recovery mode.
#include <algorithm>

#include "db/wal_reader.h"
#include "levels/manifest.h"
#include "test/db/db_test_support.h"

namespace pmlsm {
namespace {

constexpr int kKeys = 100;

class WalRecoveryTest : public ::testing::TestWithParam<MemTableType> {
 protected:
  // 100 synced puts in four segments, none flushed: every 25th is so large that it ends its segment.
  WalRecoveryTest() {
    Options options = MakeOptions();
    options.create_if_missing = true;
    std::unique_ptr<DB> db;
    CHECK(DB::Open(options, dir_ / "db", &db).ok());
    for (int i = 0; i < kKeys; ++i) CHECK(db->Put({}, Key(i), Value(i)).ok());
    uint64_t runs = 1;
    CHECK(db->GetIntProperty("pmlsm.num-runs-at-level0", &runs) && runs == 0);
    CopyTree(dir_ / "db", dir_ / "image");
    CHECK(db->Close().ok());
    FindRecords();
  }

  Options MakeOptions() const {
    Options options;
    options.memtable = GetParam();
    options.max_pmem_bytes = uint64_t{128} << 20;
    options.write_buffer_size = 1 << 20;
    return options;
  }
  static std::string Key(int i) { return std::to_string(10000 + i); }
  static std::string Value(int i) { return std::string(i % 25 == 24 ? 300000 : 100, 'a' + i % 26); }

  std::unique_ptr<Pool> OpenPool(const std::string& path) {
    PoolOptions options;
    options.set_dir = path;
    options.client_bytes = kManifestAreaBytes;
    std::unique_ptr<Pool> pool;
    const Status s = Pool::Open(options, &pool);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return pool;
  }

  // Where each put's record lies.
  void FindRecords() {
    const std::unique_ptr<Pool> pool = OpenPool(dir_ / "image");
    ManifestState state;
    bool found = false;
    CHECK(Manifest::Load(*pool, &state, &found).ok() && found);
    CHECK(state.segments.size() == 4);
    WalReader reader(pool.get(), state.segments, 0);
    for (WalReader::Record record; reader.Next(&record);) {
      offsets_.push_back(pool->ToOffset(record.payload.data()));
      segments_.push_back(record.segment);
    }
    CHECK(offsets_.size() == kKeys);
  }

  // A fresh copy in which the payload of a put's record is spoilt.
  void Damage(int put) {
    std::filesystem::remove_all(dir_ / "damaged");
    CopyTree(dir_ / "image", dir_ / "damaged");
    const std::unique_ptr<Pool> pool = OpenPool(dir_ / "damaged");
    *pool->Writable(offsets_[put] + 7) ^= 4;
  }
  int LastOfSegment(uint64_t segment) const {
    const auto end =
        std::find_if(segments_.begin(), segments_.end(), [&](uint64_t s) { return s > segment; });
    return static_cast<int>(end - segments_.begin()) - 1;
  }

  Status Open(WALRecoveryMode mode, std::unique_ptr<DB>* db) {
    Options options = MakeOptions();
    options.wal_recovery_mode = mode;
    return DB::Open(options, dir_ / "damaged", db);
  }
  void ExpectCorruption(WALRecoveryMode mode) {
    std::unique_ptr<DB> db;
    const Status s = Open(mode, &db);
    EXPECT_TRUE(s.IsCorruption()) << ToString(mode) << ": " << s.ToString();
    EXPECT_NE(s.ToString().find("segment"), std::string::npos) << s.ToString();
    EXPECT_EQ(db, nullptr);
  }
  // Opens twice: what was dropped stays dropped, and what is written behind it is found again.
  void ExpectPrefix(WALRecoveryMode mode, int puts) {
    Model model;
    for (int i = 0; i < puts; ++i) model[Key(i)] = Value(i);
    std::vector<std::string> dropped;
    for (int i = puts; i < kKeys; ++i) dropped.push_back(Key(i));
    for (int round = 0; round < 3; ++round) {
      std::unique_ptr<DB> db;
      ASSERT_OK(Open(mode, &db));
      ASSERT_NO_FATAL_FAILURE(ExpectHolds(db.get(), model, dropped));
      if (round == 0) {
        EXPECT_NE(ReadFile(dir_ / "damaged/LOG").find("dropped"), std::string::npos);
      }
      const std::string key = "z" + std::to_string(round);
      ASSERT_OK(db->Put({}, key, "new"));
      model[key] = "new";
      if (round == 0) {  // a killed process
        CopyTree(dir_ / "damaged", dir_ / "killed");
        db.reset();
        std::filesystem::remove_all(dir_ / "damaged");
        std::filesystem::rename(dir_ / "killed", dir_ / "damaged");
      }
    }
  }

  TestDir dir_;
  std::vector<uint64_t> offsets_;   // of payloads in the pool
  std::vector<uint64_t> segments_;  // numbers
};

TEST_P(WalRecoveryTest, WL1_ADamagedEndOfAnEarlierSegmentLeavesNoHole) {
  for (const uint64_t segment : {segments_.front(), segments_.back() - 1}) {
    const int put = LastOfSegment(segment);
    ASSERT_LT(put, kKeys - 1);
    Damage(put);
    ExpectCorruption(WALRecoveryMode::kTolerateCorruptedTailRecords);
    ExpectCorruption(WALRecoveryMode::kAbsoluteConsistency);
    ASSERT_NO_FATAL_FAILURE(ExpectPrefix(WALRecoveryMode::kPointInTimeRecovery, put));
  }
}

TEST_P(WalRecoveryTest, WL2_ABadByteInTheMiddleIsNotTheEnd) {
  for (const int put : {0, 1, 12, 60, kKeys - 2}) {
    Damage(put);
    ExpectCorruption(WALRecoveryMode::kTolerateCorruptedTailRecords);
    ExpectCorruption(WALRecoveryMode::kAbsoluteConsistency);
    ASSERT_NO_FATAL_FAILURE(ExpectPrefix(WALRecoveryMode::kPointInTimeRecovery, put));
  }
}

TEST_P(WalRecoveryTest, TheLastRecordMayBeTorn) {
  Damage(kKeys - 1);
  ExpectCorruption(WALRecoveryMode::kAbsoluteConsistency);
  ASSERT_NO_FATAL_FAILURE(ExpectPrefix(WALRecoveryMode::kTolerateCorruptedTailRecords, kKeys - 1));
  Damage(kKeys - 1);
  ASSERT_NO_FATAL_FAILURE(ExpectPrefix(WALRecoveryMode::kPointInTimeRecovery, kKeys - 1));
}

TEST_P(WalRecoveryTest, AnUndamagedLogIsReplayedInEveryMode) {
  for (const auto mode : {WALRecoveryMode::kTolerateCorruptedTailRecords,
                          WALRecoveryMode::kAbsoluteConsistency, WALRecoveryMode::kPointInTimeRecovery}) {
    std::filesystem::remove_all(dir_ / "damaged");
    CopyTree(dir_ / "image", dir_ / "damaged");
    ASSERT_NO_FATAL_FAILURE(ExpectPrefix(mode, kKeys));
  }
}

INSTANTIATE_TEST_SUITE_P(Memtables, WalRecoveryTest,
                         ::testing::Values(MemTableType::kSorted, MemTableType::kHash),
                         [](const auto& info) { return std::string(ToString(info.param)); });

}  // namespace
}  // namespace pmlsm
