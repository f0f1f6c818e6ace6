#include "levels/filter.h"

#include <gtest/gtest.h>

#include <string>

#include "util/random.h"

namespace pmlsm {
namespace {

constexpr uint64_t kPlace = 64;
constexpr uint64_t kSeed = 5;

struct BuiltFilter {
  BuiltFilter(int bits_per_key, const std::vector<uint64_t>& hashes) : bytes(kPlace, 0) {
    FilterBuilder builder(bits_per_key);
    for (const uint64_t hash : hashes) builder.Add(hash);
    builder.Finish(kPlace, kSeed, &bytes);
    EXPECT_EQ(bytes.size() - kPlace, FilterBuilder::Bytes(bits_per_key, hashes.size()));
    probes = builder.probes();
  }
  Filter filter() const { return Filter(Region{bytes.data(), kPlace, bytes.size(), kSeed}, probes); }
  std::string bytes;
  uint32_t probes;
};

std::vector<uint64_t> Hashes(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<uint64_t> hashes(count);
  for (uint64_t& hash : hashes) {
    const uint64_t number = random.Next();
    hash = Hash64(&number, sizeof(number));
  }
  return hashes;
}

TEST(Filter, HasNoFalseNegative) {
  for (const size_t count : {1, 2, 10, 47, 48, 49, 1000, 50000}) {
    for (const int bits : {1, 5, 10, 20, 32}) {
      const std::vector<uint64_t> hashes = Hashes(count, count);
      const BuiltFilter built(bits, hashes);
      const Filter filter = built.filter();
      ASSERT_FALSE(filter.Check());
      for (const uint64_t hash : hashes) {
        bool damaged;
        ASSERT_TRUE(filter.MayContain(hash, &damaged));
        ASSERT_FALSE(damaged);
      }
    }
  }
}

TEST(Filter, FalsePositivesAreAsFewAsDocumented) {
  const struct {
    int bits;
    double percent_max;
  } cases[] = {{5, 11.5}, {8, 2.6}, {10, 1.3}, {16, 0.25}, {20, 0.12}, {32, 0.03}};
  for (const auto& [bits, percent_max] : cases) {
    const BuiltFilter built(bits, Hashes(1, 100000));
    const Filter filter = built.filter();
    size_t positives = 0;
    for (const uint64_t hash : Hashes(2, 200000)) {
      bool damaged;
      positives += filter.MayContain(hash, &damaged);
    }
    const double percent = positives * 100.0 / 200000;
    printf("%d bits a key, %u probes: %.3f %% false positives\n", bits, built.probes, percent);
    EXPECT_LE(percent, percent_max) << bits << " bits a key";
  }
}

TEST(Filter, NoFilterSaysMaybe) {
  bool damaged;
  EXPECT_TRUE(Filter().MayContain(123, &damaged));
  EXPECT_EQ(FilterBuilder::Bytes(0, 1000), 0u);
}

TEST(Filter, DamagedLineSaysMaybe) {
  const std::vector<uint64_t> hashes = Hashes(3, 200);
  BuiltFilter built(10, hashes);
  for (size_t bit = kPlace * 8; bit < built.bytes.size() * 8; ++bit) {
    built.bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    const Filter filter = built.filter();
    EXPECT_TRUE(filter.Check());
    for (const uint64_t hash : hashes) {
      bool damaged;
      ASSERT_TRUE(filter.MayContain(hash, &damaged)) << "bit " << bit;
    }
    built.bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
  }
}

}  // namespace
}  // namespace pmlsm
