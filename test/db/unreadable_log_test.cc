// Fault model: a DB at rest whose log has a page that cannot be read: its first load raises SIGBUS, as that of a
// page with a media error does. The rules: 1. Check and salvage name it as damage of the log that loses data,
// never as a torn tail, whether or not a later record vouches for what was there. 2. Salvage copies every record
// that does not lie in the page.
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>

#include "db/offline.h"
#include "db/wal_reader.h"
#include "test/db/db_test_support.h"
#include "test/db/pool_probe.h"

namespace {

constexpr uint64_t kPageBytes = 4096;

// The page of a file that cannot be read, in any mapping made from now on.
struct BadPage {
  ino_t file = 0;  // 0: none
  uint64_t offset = 0;
};
BadPage bad_page;

void* SystemMmap(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) {
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, bytes, protection, flags, fd, offset));
}

}  // namespace

// Replaces libc's. The bad page becomes one of an empty file, which has none: loads from it raise SIGBUS.
extern "C" void* mmap(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  void* const mapped = SystemMmap(address, bytes, protection, flags, fd, offset);
  struct stat info;
  if (mapped == MAP_FAILED || bad_page.file == 0 || fd < 0 || fstat(fd, &info) != 0) return mapped;
  const uint64_t begin = static_cast<uint64_t>(offset);
  if (info.st_ino != bad_page.file || bad_page.offset < begin || bad_page.offset >= begin + bytes)
    return mapped;
  const int empty = memfd_create("empty", MFD_CLOEXEC);
  char* const page = static_cast<char*>(mapped) + (bad_page.offset - begin);
  CHECK(empty >= 0);
  CHECK(SystemMmap(page, kPageBytes, protection, MAP_SHARED | MAP_FIXED, empty, 0) == page);
  close(empty);
  return mapped;
}

namespace pmlsm {
namespace {

constexpr int kKeys = 100;

class UnreadableLogTest : public ::testing::Test {
 protected:
  ~UnreadableLogTest() override { bad_page = {}; }

  static std::string Key(int i) { return std::to_string(1000 + i); }
  static std::string Value(int i) { return std::string(200, 'a' + i % 26); }

  // A killed DB with kKeys puts in its log, in one segment.
  void MakeDb(bool sync) {
    std::unique_ptr<DB> db;
    CHECK(DB::Open(TinyOptions(), dir_ / "db", &db).ok());
    WriteOptions options;
    options.sync = sync;
    for (int i = 0; i < kKeys; ++i) CHECK(db->Put(options, Key(i), Value(i)).ok());
    CopyTree(dir_ / "db", path_);
    CHECK(db->Close().ok());
    FindRecords();
  }

  void FindRecords() {
    const PoolProbe probe(path_, dir_ / "probe");
    const ManifestState& state = probe.state;
    CHECK(state.segments.size() == 1);
    segment_end_ = state.segments[0].offset + state.segments[0].bytes;
    WalReader reader(probe.pool.get(), state.segments, state.clean_end);
    for (WalReader::Record record; reader.Next(&record);) {
      const uint64_t payload = probe.pool->ToOffset(record.payload.data());
      records_.push_back({payload - sizeof(LogRecordHeader), payload + record.payload.size()});
    }
    CHECK(records_.size() == kKeys);
  }

  // Makes the page at an offset of the pool bad, and tells which puts it takes.
  std::vector<int> Spoil(uint64_t offset) {
    const uint64_t page = offset / kPageBytes * kPageBytes;
    uint64_t in_part = page;
    for (int i = 0;; ++i) {
      const std::string part = path_ + "/parts/00000" + std::to_string(i) + ".pmem";
      struct stat info;
      CHECK(stat(part.c_str(), &info) == 0);
      if (in_part < static_cast<uint64_t>(info.st_size)) {
        bad_page = {info.st_ino, in_part};
        break;
      }
      in_part -= static_cast<uint64_t>(info.st_size);
    }
    std::vector<int> taken;
    for (int i = 0; i < kKeys; ++i) {
      if (records_[i].first < page + kPageBytes && records_[i].second > page) taken.push_back(i);
    }
    return taken;
  }

  static void ExpectLogDamage(const OfflineReport& report) {
    std::string text;
    for (const DamagedPiece& piece : report.damages) text += piece.ToString() + "\n";
    for (const std::string& note : report.notes) {
      text += "note: " + note + "\n";
      EXPECT_EQ(note.find("torn tail"), std::string::npos) << note;
    }
    EXPECT_TRUE(std::any_of(report.damages.begin(), report.damages.end(), [](const DamagedPiece& piece) {
      return piece.loses_data && piece.structure.find("log, segment") == 0;
    })) << text;
    EXPECT_TRUE(std::any_of(report.damages.begin(), report.damages.end(), [](const DamagedPiece& piece) {
      return piece.structure == "pool" && piece.what.find("SIGBUS") != std::string::npos;
    })) << text;
  }

  // Rules 1 and 2.
  void CheckAndSalvage(const std::vector<int>& taken) {
    Options options = TinyOptions();
    options.max_pmem_bytes = 0;
    OfflineReport report;
    ASSERT_OK(CheckDB(options, path_, &report));
    ExpectLogDamage(report);
    SalvageOptions salvage;
    salvage.options = options;
    report = OfflineReport();
    ASSERT_OK(SalvageDB(salvage, path_, dir_ / "new", &report));
    ExpectLogDamage(report);
    EXPECT_EQ(report.keys_copied, kKeys - taken.size());
    bad_page = {};
    std::unique_ptr<DB> db;
    ASSERT_OK(DB::Open(options, dir_ / "new", &db));
    for (int i = 0; i < kKeys; ++i) {
      const bool lost = std::find(taken.begin(), taken.end(), i) != taken.end();
      EXPECT_TRUE(GetIs(db.get(), {}, Key(i), lost ? std::nullopt : std::optional(Value(i)))) << i;
    }
  }

  TestDir dir_;
  const std::string path_ = dir_ / "killed";
  std::vector<std::pair<uint64_t, uint64_t>> records_;  // of each put: begin and end in the pool
  uint64_t segment_end_ = 0;
};

TEST_F(UnreadableLogTest, WL2_APageThatLaterRecordsVouchForIsDamage) {
  MakeDb(/*sync=*/true);
  const std::vector<int> taken = Spoil(records_[kKeys / 2].first);
  ASSERT_GT(taken.size(), 1u);
  ASSERT_NO_FATAL_FAILURE(CheckAndSalvage(taken));
}

TEST_F(UnreadableLogTest, WL2_ThePageOfTheLastRecordsIsNotTheEndOfTheLog) {
  MakeDb(/*sync=*/true);
  const std::vector<int> taken = Spoil(records_[kKeys - 1].first);
  ASSERT_EQ(taken.back(), kKeys - 1);
  ASSERT_NO_FATAL_FAILURE(CheckAndSalvage(taken));
}

// Records without a sync never vouch for those before them.
TEST_F(UnreadableLogTest, WL2_RecordsBehindAPageThatNoneVouchesForAreCopied) {
  MakeDb(/*sync=*/false);
  const std::vector<int> taken = Spoil(records_[kKeys / 2].first);
  ASSERT_LT(taken.back(), kKeys - 1);
  ASSERT_NO_FATAL_FAILURE(CheckAndSalvage(taken));
}

// Nothing tells whether records were there.
TEST_F(UnreadableLogTest, WL2_APageBehindTheLastRecordThatVerifiesIsDamage) {
  MakeDb(/*sync=*/true);
  const uint64_t page = (records_.back().second / kPageBytes + 1) * kPageBytes;
  ASSERT_LT(page, segment_end_);
  ASSERT_NO_FATAL_FAILURE(CheckAndSalvage(Spoil(page)));
}

}  // namespace
}  // namespace pmlsm
