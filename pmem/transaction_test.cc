// Transaction by its contract; what survives a power failure is tested in test/crash/node_crash_test.cc.
#include "pmem/transaction.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "pmem/pool.h"
#include "pmem/test_dir.h"

namespace pmlsm {
namespace {

constexpr uint64_t kPoolBytes = 64 << 20;

class TransactionTest : public testing::Test {
 protected:
  TransactionTest() {
    PoolOptions options;
    options.set_dir = dir_.path();
    options.create = true;
    options.max_pmem_bytes = kPoolBytes;
    options.extent_bytes = 4096;
    options.client_bytes = 1 << 20;
    options.snapshots = true;
    EXPECT_TRUE(Pool::Open(options, &pool_).ok());
    bytes_ = pool_->Writable(pool_->header().client_offset);
  }

  TestDir dir_;
  std::unique_ptr<Pool> pool_;
  char* bytes_ = nullptr;
};

TEST_F(TransactionTest, CommittedRangesKeepTheirNewBytes) {
  Transaction transaction(pool_.get());
  ASSERT_TRUE(transaction.Add(bytes_, 10).ok());
  ASSERT_TRUE(transaction.Add(bytes_ + 1000, 5000).ok());
  memset(bytes_, 'a', 10);
  memset(bytes_ + 1000, 'b', 5000);
  ASSERT_TRUE(transaction.Commit().ok());
  transaction.Abort();  // of nothing
  EXPECT_EQ(std::string(bytes_, 11), std::string(10, 'a') + '\0');
  EXPECT_EQ(std::string(bytes_ + 1000, 5000), std::string(5000, 'b'));
}

TEST_F(TransactionTest, AbortPutsAllRangesBack) {
  Transaction transaction(pool_.get());
  ASSERT_TRUE(transaction.Add(bytes_, 10).ok());
  ASSERT_TRUE(transaction.Add(bytes_ + 1000, 5000).ok());
  memset(bytes_, 'a', 10);
  memset(bytes_ + 1000, 'b', 5000);
  transaction.Abort();
  EXPECT_EQ(std::string(bytes_, 10), std::string(10, '\0'));
  EXPECT_EQ(std::string(bytes_ + 1000, 5000), std::string(5000, '\0'));
}

TEST_F(TransactionTest, DestructionWithoutCommitIsAnAbort) {
  {
    Transaction transaction(pool_.get());
    ASSERT_TRUE(transaction.Add(bytes_, 8).ok());
    memset(bytes_, 'a', 8);
  }
  EXPECT_EQ(bytes_[0], '\0');
  Transaction next(pool_.get());
  ASSERT_TRUE(next.Add(bytes_, 8).ok());
  memset(bytes_, 'b', 8);
  ASSERT_TRUE(next.Commit().ok());
  EXPECT_EQ(bytes_[7], 'b');
}

TEST_F(TransactionTest, ARangeOutsideThePoolIsRefusedAndUndoesTheRest) {
  Transaction transaction(pool_.get());
  ASSERT_TRUE(transaction.Add(bytes_, 8).ok());
  memset(bytes_, 'a', 8);
  char outside[64];
  EXPECT_FALSE(transaction.Add(outside, sizeof(outside)).ok());
  EXPECT_EQ(bytes_[0], '\0');
}

TEST_F(TransactionTest, CommitOfNothingIsFine) {
  Transaction transaction(pool_.get());
  EXPECT_TRUE(transaction.Commit().ok());
}

}  // namespace
}  // namespace pmlsm
