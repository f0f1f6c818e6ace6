// Store and device by their contracts: exact counts, bytes that arrive, the medium that is found.
#include "pmem/store.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "pmem/device.h"
#include "pmem/test_dir.h"

namespace pmlsm {
namespace {

constexpr size_t kMappedBytes = 1 << 20;

class Mapping {
 public:
  explicit Mapping(const std::string& path) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0 && ftruncate(fd, kMappedBytes) == 0);
    base_ = static_cast<char*>(mmap(nullptr, kMappedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    CHECK(base_ != MAP_FAILED);
    close(fd);
  }
  ~Mapping() { munmap(base_, kMappedBytes); }
  char* base() const { return base_; }

 private:
  char* base_;
};

class StoreTest : public testing::TestWithParam<Medium> {
 protected:
  StoreTest()
      : dir_(GetParam() == Medium::kFile ? TestDir::kDisk : TestDir::kTmpfs),
        mapping_(dir_.Sub("file")),
        base_(mapping_.base()),
        source_(kMappedBytes, '\0') {
    for (size_t i = 0; i < source_.size(); ++i) source_[i] = static_cast<char>(i * 31 + 7);
  }

  // The counts of what `action` did with a Store of its own.
  template <typename Action>
  PersistCounts CountsOf(Action action) {
    PersistCounters counters;
    {
      Store store(GetParam(), &counters);
      action(&store);
    }
    return Read(counters);
  }

  TestDir dir_;
  Mapping mapping_;
  char* base_;
  std::string source_;
};

void ExpectCounts(const PersistCounts& counts, uint64_t bytes, uint64_t lines, uint64_t blocks,
                  uint64_t fences) {
  EXPECT_EQ(counts.bytes_modified, bytes);
  EXPECT_EQ(counts.lines_flushed, lines);
  EXPECT_EQ(counts.blocks_touched, blocks);
  EXPECT_EQ(counts.fences, fences);
}

TEST_P(StoreTest, StreamCountsTheLinesAndBlocksItTouchesHoweverAligned) {
  const struct {
    size_t offset, bytes;
    uint64_t lines, blocks;
  } cases[] = {
      {0, 1, 1, 1},         {0, 64, 1, 1},  {63, 1, 1, 1},  {63, 2, 2, 1},    {0, 256, 4, 1},
      {255, 2, 2, 2},       {1, 256, 5, 2}, {0, 257, 5, 2}, {100, 192, 4, 2}, {64, 192, 3, 1},
      {4095, 4098, 66, 18}, {0, 0, 0, 0},   {8, 0, 0, 0},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << c.offset << " + " << c.bytes);
    memset(base_, 0, kMappedBytes);
    const PersistCounts counts = CountsOf([&](Store* store) {
      store->Stream(base_ + c.offset, source_.data(), c.bytes);
      EXPECT_TRUE(store->Fence().ok());
    });
    ExpectCounts(counts, c.bytes, c.lines, c.blocks, 1);
    EXPECT_EQ(memcmp(base_ + c.offset, source_.data(), c.bytes), 0);
    if (c.offset > 0) {
      EXPECT_EQ(base_[c.offset - 1], 0);
    }
    EXPECT_EQ(base_[c.offset + c.bytes], 0);
  }
}

TEST_P(StoreTest, CopyCountsBytesAndFlushLinesCountsLines) {
  ExpectCounts(CountsOf([&](Store* store) { store->Copy(base_ + 60, source_.data(), 10); }), 10, 0, 0, 0);
  ExpectCounts(CountsOf([&](Store* store) {
                 store->Copy(base_ + 60, source_.data(), 10);
                 store->FlushLines(base_ + 60, 10);
                 EXPECT_TRUE(store->Fence().ok());
               }),
               10, 2, 1, 1);
  ExpectCounts(CountsOf([&](Store* store) { store->FlushLines(base_ + 60, 0); }), 0, 0, 0, 0);
  EXPECT_EQ(memcmp(base_ + 60, source_.data(), 10), 0);
}

TEST_P(StoreTest, WordsCountEightBytesAndAFailedCasNone) {
  uint64_t* word = reinterpret_cast<uint64_t*>(base_ + 128);
  const PersistCounts counts = CountsOf([&](Store* store) {
    store->Store8(word, 5);
    EXPECT_FALSE(store->Cas8(word, 4, 6));
    EXPECT_EQ(*word, 5u);
    EXPECT_TRUE(store->Cas8(word, 5, 6));
    EXPECT_EQ(*word, 6u);
    store->FlushLines(word, sizeof(*word));
    EXPECT_TRUE(store->Fence().ok());
  });
  ExpectCounts(counts, 16, 1, 1, 1);
}

TEST_P(StoreTest, CountsAreHandedOverAtTheFenceAndAtTheEnd) {
  PersistCounters counters;
  {
    Store store(GetParam(), &counters);
    store.Stream(base_, source_.data(), 64);
    EXPECT_TRUE(store.Fence().ok());
    ExpectCounts(Read(counters), 64, 1, 1, 1);
    store.Stream(base_, source_.data(), 64);
  }
  ExpectCounts(Read(counters), 128, 2, 2, 1);
}

TEST_P(StoreTest, StoresOfManyThreadsShareTheirCounters) {
  PersistCounters counters;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Store store(GetParam(), &counters);
      for (int i = 0; i < 50; ++i) {
        store.Stream(base_ + t * 4096 + i * 64, source_.data(), 64);
        EXPECT_TRUE(store.Fence().ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ExpectCounts(Read(counters), 4 * 50 * 64, 200, 200, 200);
}

INSTANTIATE_TEST_SUITE_P(Media, StoreTest, testing::Values(Medium::kTmpfs, Medium::kFile),
                         [](const auto& info) { return info.param == Medium::kFile ? "File" : "Tmpfs"; });

TEST(StoreFileTest, FenceReachesTheFileAndReportsWhatMsyncRefuses) {
  const TestDir dir(TestDir::kDisk);
  Mapping mapping(dir.Sub("file"));
  PersistCounters counters;
  Store store(Medium::kFile, &counters);
  // Two ranges out of order and one that joins the first.
  for (const size_t offset : {size_t{9000}, size_t{100}, size_t{9100}}) {
    store.Stream(mapping.base() + offset, "abc", 3);
  }
  EXPECT_TRUE(store.Fence().ok());
  // Nothing is mapped at the end of the mapping's last page plus a hole: msync says ENOMEM.
  munmap(mapping.base() + 8192, 4096);
  store.FlushLines(mapping.base() + 8192, 64);
  EXPECT_TRUE(store.Fence().IsIOError());
  EXPECT_TRUE(store.Fence().IsIOError()) << "the range is still due";
}

TEST(CountersTest, SumsAndDifferences) {
  PersistCounts a = {1, 2, 3, 4};
  a += {10, 20, 30, 40};
  ExpectCounts(a, 11, 22, 33, 44);
  a -= {1, 2, 3, 4};
  ExpectCounts(a, 10, 20, 30, 40);
}

TEST(DeviceTest, TmpfsAndPlainFilesAreToldApart) {
  const TestDir tmpfs(TestDir::kTmpfs);
  const TestDir disk(TestDir::kDisk);
  Medium medium = Medium::kDax;
  ASSERT_TRUE(DetectMedium(tmpfs.path(), &medium).ok());
  EXPECT_EQ(medium, Medium::kTmpfs);
  EXPECT_STREQ(ToString(medium), "tmpfs (emulated)");
  { Mapping file(tmpfs.Sub("file")); }
  ASSERT_TRUE(DetectMedium(tmpfs.Sub("file"), &medium).ok());
  EXPECT_EQ(medium, Medium::kTmpfs);
  ASSERT_TRUE(DetectMedium(disk.path(), &medium).ok());
  if (medium == Medium::kTmpfs) GTEST_SKIP() << "the disk is tmpfs too";
  EXPECT_EQ(medium, Medium::kFile);
  { Mapping file(disk.Sub("file")); }
  ASSERT_TRUE(DetectMedium(disk.Sub("file"), &medium).ok());
  EXPECT_EQ(medium, Medium::kFile);
  EXPECT_TRUE(DetectMedium(disk.Sub("nothing"), &medium).IsPathNotFound());
}

TEST(DeviceTest, APlainFileIsRefusedWhereLibpmemIsForcedAndTmpfsIsNot) {
  const TestDir tmpfs(TestDir::kTmpfs);
  const TestDir disk(TestDir::kDisk);
  Medium medium = Medium::kDax;
  ASSERT_TRUE(DetectMedium(disk.path(), &medium).ok());
  if (medium != Medium::kFile) GTEST_SKIP() << "the disk is no plain file system";
  setenv("PMEM_IS_PMEM_FORCE", "1", 1);
  const Status refused = DetectMedium(disk.path(), &medium);
  EXPECT_TRUE(DetectMedium(tmpfs.path(), &medium).ok());
  setenv("PMEM_IS_PMEM_FORCE", "0", 1);
  EXPECT_TRUE(DetectMedium(disk.path(), &medium).ok()) << "0 only makes libpmem more careful";
  unsetenv("PMEM_IS_PMEM_FORCE");
  EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  EXPECT_NE(refused.ToString().find("PMEM_IS_PMEM_FORCE"), std::string::npos);
}

TEST(DeviceTest, FileSystemBytesAreOrdered) {
  uint64_t total = 0;
  uint64_t available = 0;
  ASSERT_TRUE(FileSystemBytes("/dev/shm", &total, &available).ok());
  EXPECT_GT(total, 0u);
  EXPECT_LE(available, total);
}

}  // namespace
}  // namespace pmlsm
