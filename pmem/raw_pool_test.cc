// A pool's bytes without libpmemobj: the same as with it, and what is lost is zero and listed.
#include "pmem/raw_pool.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "pmem/pool.h"
#include "pmem/pool_set_file.h"
#include "pmem/raw_root.h"
#include "pmem/test_dir.h"

namespace pmlsm {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

class RawPoolTest : public ::testing::Test {
 protected:
  // A set of several parts, with a mark in each MiB of its groups.
  RawPoolTest() {
    PoolOptions options;
    options.set_dir = dir_.path();
    options.create = true;
    options.max_pmem_bytes = 64 * kMiB;
    options.extent_bytes = 4096;
    options.client_bytes = 4096;
    std::unique_ptr<Pool> pool;
    Status s = Pool::Open(options, &pool);
    for (int i = 0; s.ok() && i < 5; ++i) {
      Span group;
      s = pool->Grow(4 * kMiB, &group);
    }
    CHECK(s.ok());
    groups_ = pool->Groups();
    for (const Span& group : groups_) {
      for (uint64_t at = group.offset; at < group.end(); at += kMiB) *pool->Writable<uint64_t>(at) = at;
    }
    pool_bytes_ = pool->pool_bytes();
    root_ = pool->ToOffset(&pool->header());
    EXPECT_TRUE(ListPoolParts(parts_, &files_).ok());
    CHECK(files_.size() >= 3);
  }

  std::unique_ptr<RawPool> Open() {
    std::unique_ptr<RawPool> pool;
    const Status s = RawPool::Open(dir_.path(), "", &pool);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return pool;
  }
  std::string Path(size_t part) const { return parts_ + "/" + files_[part].name; }
  uint64_t OffsetOf(size_t part) const {
    uint64_t offset = 0;
    for (size_t i = 0; i < part; ++i) offset += files_[i].bytes;
    return offset;
  }
  // All marks are where they were, but for those in `lost`, which read as zero.
  void ExpectMarks(const RawPool& pool, Span lost) const {
    for (const Span& group : groups_) {
      for (uint64_t at = group.offset; at < group.end(); at += kMiB) {
        const bool gone = at >= lost.offset && at < lost.end();
        ASSERT_EQ(*pool.At<uint64_t>(at), gone ? 0 : at);
      }
    }
  }
  // The same, and that exactly `lost` is listed.
  void ExpectLost(const RawPool& pool, Span lost) const {
    ASSERT_EQ(pool.bytes(), pool_bytes_);
    ASSERT_NO_FATAL_FAILURE(ExpectMarks(pool, lost));
    const std::vector<RawPool::Lost> listed = pool.lost();
    ASSERT_EQ(listed.size(), 1u);
    EXPECT_EQ(listed[0].span.offset, lost.offset);
    EXPECT_EQ(listed[0].span.bytes, lost.bytes);
  }

  TestDir dir_;
  const std::string parts_ = PoolSetPaths(dir_.path()).parts;
  std::vector<Span> groups_;
  std::vector<PoolPart> files_;
  uint64_t pool_bytes_ = 0;
  uint64_t root_ = 0;
};

TEST_F(RawPoolTest, AnUndamagedPoolReadsAsLibpmemobjShowsIt) {
  const std::unique_ptr<RawPool> pool = Open();
  EXPECT_EQ(pool->bytes(), pool_bytes_);
  EXPECT_TRUE(pool->lost().empty());
  ASSERT_NO_FATAL_FAILURE(ExpectMarks(*pool, {}));
  std::vector<PoolDamage> damages;
  CheckPmdkStructures(*pool, &damages);
  const RawRoot root = ReadRawRoot(*pool, &damages);
  for (const PoolDamage& damage : damages) ADD_FAILURE() << damage.structure << ": " << damage.what;
  EXPECT_EQ(root.offset, root_);
  EXPECT_TRUE(root.header_ok);
  ASSERT_EQ(root.groups.size(), groups_.size());
  for (size_t i = 0; i < groups_.size(); ++i) {
    EXPECT_EQ(root.groups[i].offset, groups_[i].offset);
    EXPECT_EQ(root.groups[i].bytes / 4096 * 4096, groups_[i].bytes);
  }
}

TEST_F(RawPoolTest, AMissingPartLeavesTheOthersWhereTheyWere) {
  for (size_t part = 1; part < files_.size(); ++part) {
    SCOPED_TRACE(part);
    ASSERT_EQ(rename(Path(part).c_str(), (dir_.path() + "/away").c_str()), 0);
    ExpectLost(*Open(), {OffsetOf(part), files_[part].bytes});
    ASSERT_EQ(rename((dir_.path() + "/away").c_str(), Path(part).c_str()), 0);
  }
}

TEST_F(RawPoolTest, APartCutShortLosesItsEndOnly) {
  for (const uint64_t left : {5 * kMiB, 4 * kMiB}) {
    const std::unique_ptr<RawPool> whole = Open();
    const std::string all(whole->At(OffsetOf(1)), files_[1].bytes);
    ASSERT_EQ(truncate(Path(1).c_str(), static_cast<off_t>(left)), 0);
    // One that is mapped already goes on with zeros.
    ExpectMarks(*whole, {OffsetOf(1) + left, files_[1].bytes - left});
    EXPECT_FALSE(whole->lost().empty());
    EXPECT_NE(whole->lost()[0].why.find("SIGBUS"), std::string::npos);
  }
  ExpectLost(*Open(), {OffsetOf(1) + 4 * kMiB, files_[1].bytes - 4 * kMiB});
}

TEST_F(RawPoolTest, ThePoolsOwnerIsNotDisturbed) {
  PoolOptions options;
  options.set_dir = dir_.path();
  std::unique_ptr<Pool> owner;
  ASSERT_TRUE(Pool::Open(options, &owner).ok());
  std::unique_ptr<RawPool> pool;
  const Status s = RawPool::Open(dir_.path(), "", &pool);
  EXPECT_TRUE(s.IsIOError() && s.ToString().find("lock") != std::string::npos) << s.ToString();
}

TEST_F(RawPoolTest, ASingleFileIsReadToo) {
  PoolOptions options;
  options.pool_file = dir_.path() + "/single";
  options.create = true;
  options.max_pmem_bytes = 16 * kMiB;
  options.extent_bytes = 4096;
  options.client_bytes = 4096;
  std::unique_ptr<Pool> pool;
  ASSERT_TRUE(Pool::Open(options, &pool).ok());
  Span group;
  ASSERT_TRUE(pool->Grow(kMiB, &group).ok());
  *pool->Writable<uint64_t>(group.offset) = 77;
  const uint64_t bytes = pool->pool_bytes();
  pool.reset();

  std::unique_ptr<RawPool> raw;
  ASSERT_TRUE(RawPool::Open("", options.pool_file, &raw).ok());
  EXPECT_GE(raw->bytes(), bytes);
  EXPECT_EQ(*raw->At<uint64_t>(group.offset), 77u);
  std::vector<PoolDamage> damages;
  CheckPmdkStructures(*raw, &damages);
  EXPECT_TRUE(ReadRawRoot(*raw, &damages).header_ok);
  EXPECT_TRUE(damages.empty());
}

}  // namespace
}  // namespace pmlsm
