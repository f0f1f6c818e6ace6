// Keys are db_bench's bytes, permutations hit every number once.
#include "tools/bench/keys.h"

#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace pmlsm::bench {
namespace {

TEST(KeyBufferTest, KeyIsTheNumberBigEndianThenZeroDigits) {
  KeyBuffer key(16);
  EXPECT_EQ(key.Set(0x0102).ToString(true), "00000000000001023030303030303030");
  EXPECT_EQ(KeyBuffer::NumberOf(key.Set(0x0102)), 0x0102u);
}

TEST(KeyBufferTest, ShortKeyHoldsTheLowBytes) {
  KeyBuffer key(3);
  EXPECT_EQ(key.Set(0x010203).ToString(true), "010203");
  EXPECT_EQ(KeyBuffer::NumberOf(key.Set(7)), 7u);
}

TEST(KeyBufferTest, KeysSortLikeTheirNumbers) {
  KeyBuffer a(16), b(16);
  for (const uint64_t number : {0, 1, 255, 256, 65535, 1 << 30})
    EXPECT_LT(a.Set(number).compare(b.Set(number + 1)), 0) << number;
}

TEST(PermutationTest, EveryNumberComesOnce) {
  for (const uint64_t count : {1, 2, 3, 4, 5, 100, 1000, 1023, 1024, 1025, 100000}) {
    const Permutation order(count, 301 + count);
    std::vector<bool> seen(count);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t number = order(i);
      ASSERT_LT(number, count);
      ASSERT_FALSE(seen[number]) << number << " twice among " << count;
      seen[number] = true;
    }
  }
}

TEST(PermutationTest, NeighboursAreFarApartAndSeedsDiffer) {
  constexpr uint64_t kCount = 100000;
  const Permutation order(kCount, 1), other(kCount, 2);
  uint64_t near = 0, same = 0, ascending = 0;
  for (uint64_t i = 0; i + 1 < kCount; ++i) {
    const uint64_t here = order(i), next = order(i + 1);
    near += std::max(here, next) - std::min(here, next) < kCount / 100;
    ascending += here < next;
    same += here == other(i);
  }
  EXPECT_LT(near, kCount / 25);  // 2 % if independent
  EXPECT_GT(ascending, kCount * 2 / 5);
  EXPECT_LT(ascending, kCount * 3 / 5);
  EXPECT_LT(same, 100u);  // 1 if independent
}

TEST(WrittenKeysTest, DrawsOnlyWhatWasWritten) {
  const Permutation order(1000, 301);
  std::set<uint64_t> written;
  for (uint64_t i = 0; i < 10; ++i) written.insert(order(i));
  Random random(301);
  const WrittenKeys keys = WrittenKeys::First(10, &order);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(written.count(keys.Draw(&random)), 1u);
}

}  // namespace
}  // namespace pmlsm::bench
