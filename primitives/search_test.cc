// Every search primitive against a scan of the same keys, on even, uneven and random ones.
#include "primitives/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "util/random.h"

namespace pmlsm::primitives {
namespace {

constexpr uint64_t kSeed = 4;
constexpr uint32_t kEntries = 168;

using Keys = std::vector<uint64_t>;

Keys Ascending(uint32_t count, uint64_t (*key)(uint64_t)) {
  Keys keys;
  for (uint64_t i = 0; i < count; ++i) keys.push_back(key(i));
  return keys;
}

// Sets of ascending keys of each size, and of each kind.
std::vector<Keys> AllKeySets() {
  Random random(kSeed);
  std::vector<Keys> sets;
  for (const uint32_t count : {0u, 1u, 2u, 3u, 7u, 8u, 9u, 37u, 56u, 57u, 168u}) {
    sets.push_back(Ascending(count, [](uint64_t i) { return 10 + i * 3; }));
    sets.push_back(Ascending(count, [](uint64_t i) { return i * i * i * i * i * i * i; }));
    sets.push_back(Ascending(count, [](uint64_t i) { return ~uint64_t{0} - (kEntries - i); }));
    sets.push_back(Ascending(count, [](uint64_t i) { return i == 0 ? 0 : ~uint64_t{0} - kEntries + i; }));
    Keys keys;
    while (keys.size() < count) {
      keys.push_back(random.Next() >> random.Uniform(60));
      std::sort(keys.begin(), keys.end());
      keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    }
    sets.push_back(keys);
  }
  return sets;
}

// Each key, what is next to it, and the ends.
Keys Wanted(const Keys& keys) {
  Keys wanted = {0, 1, ~uint64_t{0}};
  for (const uint64_t key : keys) {
    for (const uint64_t k : {key - 1, key, key + 1}) wanted.push_back(k);
  }
  return wanted;
}

TEST(SearchTest, OrderedSearchesFindTheLowerBound) {
  for (const Keys& keys : AllKeySets()) {
    const auto count = static_cast<uint32_t>(keys.size());
    for (const uint64_t key : Wanted(keys)) {
      Position expected = 0;
      while (expected < count && keys[expected] < key) ++expected;
      EXPECT_EQ(BinarySearch(keys.data(), count, key), expected);
      EXPECT_EQ(InterpolationSearch(keys.data(), count, key), expected);
      EXPECT_EQ(ExponentialSearch(keys.data(), count, key), expected);
    }
  }
}

// Keys at random positions, all other positions with keys that must not be found.
struct Scattered {
  explicit Scattered(const Keys& sorted, Random* random) {
    std::vector<Position> places;
    for (Position p = 0; p < kEntries; ++p) places.push_back(p);
    for (size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[random->Uniform(i)]);
    for (Position p = 0; p < kEntries; ++p) keys[p] = sorted.empty() ? 0 : sorted[p % sorted.size()];
    for (Position p = 0; p < kEntries; ++p) fingerprints[p] = Fingerprint(keys[p]);
    for (size_t i = 0; i < sorted.size(); ++i) {
      keys[places[i]] = sorted[i];
      fingerprints[places[i]] = Fingerprint(sorted[i]);
      bitmap.Set(places[i]);
      slots[i] = static_cast<uint8_t>(places[i]);
    }
  }

  uint64_t keys[kEntries];
  uint8_t fingerprints[kEntries];
  uint8_t slots[kEntries] = {};
  EntryBitmap<kEntries> bitmap = {};
};

TEST(SearchTest, SearchesWithBitmapFindOnlyWhatIsInUse) {
  Random random(kSeed);
  for (const Keys& keys : AllKeySets()) {
    const Scattered node(keys, &random);
    const auto count = static_cast<uint32_t>(keys.size());
    for (const uint64_t key : Wanted(keys)) {
      const auto rank = static_cast<uint32_t>(std::lower_bound(keys.begin(), keys.end(), key) - keys.begin());
      const bool there = rank < count && keys[rank] == key;
      const Position expected = there ? node.slots[rank] : kNoPosition;
      EXPECT_EQ(LinearSearchWithBitmap(node.keys, node.bitmap, key), expected);
      EXPECT_EQ(HashProbeWithBitmap(node.keys, node.fingerprints, node.bitmap, key), expected);
      EXPECT_EQ(BinarySearchThroughSlots(node.keys, node.slots, count, key), rank);
    }
  }
}

TEST(SearchTest, CountedSearchesStopAtTheCount) {
  Random random(kSeed);
  for (Keys keys : AllKeySets()) {
    for (size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[random.Uniform(i)]);
    std::vector<uint8_t> fingerprints;
    for (const uint64_t key : keys) fingerprints.push_back(Fingerprint(key));
    for (uint32_t count : {static_cast<uint32_t>(keys.size()), static_cast<uint32_t>(keys.size() / 2)}) {
      for (const uint64_t key : Wanted(keys)) {
        const auto at = std::find(keys.begin(), keys.begin() + count, key);
        const Position expected = at == keys.begin() + count ? kNoPosition : at - keys.begin();
        EXPECT_EQ(LinearSearch(keys.data(), count, key), expected);
        EXPECT_EQ(HashProbe(keys.data(), fingerprints.data(), count, key), expected);
      }
    }
  }
}

TEST(SearchTest, ABitmapFindsItsFreePositionsInOrder) {
  Random random(kSeed);
  EntryBitmap<kEntries> bitmap = {};
  std::vector<bool> used(kEntries);
  for (int round = 0; round < 2000; ++round) {
    const auto p = static_cast<Position>(random.Uniform(kEntries));
    used[p] = random.OneIn(4) ? false : true;
    used[p] ? bitmap.Set(p) : bitmap.Clear(p);
    const auto from = static_cast<Position>(random.Uniform(kEntries));
    Position expected = from;
    while (expected < kEntries && used[expected]) ++expected;
    ASSERT_EQ(bitmap.FindFree(from), expected);
    ASSERT_EQ(bitmap.Count(), static_cast<uint32_t>(std::count(used.begin(), used.end(), true)));
    std::vector<bool> visited(kEntries);
    bitmap.ForEach([&](Position position) { visited[position] = true; });
    ASSERT_EQ(visited, used);
  }
}

}  // namespace
}  // namespace pmlsm::primitives
