#include "pmem/pmdk_allocator.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <set>

#include "pmem/pool.h"
#include "pmem/test_dir.h"

namespace pmlsm {
namespace {

class PmdkAllocatorTest : public testing::Test {
 protected:
  PmdkAllocatorTest() {
    PoolOptions options;
    options.set_dir = dir_.path();
    options.create = true;
    options.max_pmem_bytes = 64 << 20;
    options.extent_bytes = 4096;
    options.client_bytes = 4096;
    EXPECT_TRUE(Pool::Open(options, &pool_).ok());
  }

  TestDir dir_;
  std::unique_ptr<Pool> pool_;
};

TEST_F(PmdkAllocatorTest, ObjectsAreApart) {
  PmdkAllocator allocator(pool_.get());
  constexpr uint64_t kBytes = 1000;
  std::set<uint64_t> offsets;
  for (int i = 0; i < 100; ++i) {
    uint64_t offset = 0;
    ASSERT_TRUE(allocator.Allocate(kBytes, &offset).ok());
    memset(pool_->Writable(offset), i, kBytes);
    const auto above = offsets.insert(offset).first;
    if (above != offsets.begin()) {
      EXPECT_GE(offset, *std::prev(above) + kBytes);
    }
    if (std::next(above) != offsets.end()) {
      EXPECT_GE(*std::next(above), offset + kBytes);
    }
  }
}

TEST_F(PmdkAllocatorTest, FreedSpaceIsUsedAgain) {
  PmdkAllocator allocator(pool_.get());
  for (int i = 0; i < 500; ++i) {
    uint64_t offset = 0;
    ASSERT_TRUE(allocator.Allocate(1 << 20, &offset).ok()) << "after " << i << " MiB in a pool of 64";
    allocator.Free(offset);
  }
}

TEST_F(PmdkAllocatorTest, AFullPoolSaysSo) {
  PmdkAllocator allocator(pool_.get());
  uint64_t offset = 0;
  const Status s = allocator.Allocate(uint64_t{1} << 40, &offset);
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
}

}  // namespace
}  // namespace pmlsm
