#include "levels/key_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "util/random.h"

namespace pmlsm {
namespace {

std::vector<uint32_t> PlacesOf(const KeyMap& map, uint64_t hash) {
  std::vector<uint32_t> places;
  map.Find(hash, [&places](uint32_t place) {
    places.push_back(place);
    return false;
  });
  return places;
}

// At every size, full: each key is found, and few others are.
TEST(KeyMapTest, FindsWhatIsIn) {
  Random random(3);
  for (const uint64_t keys : {1, 2, 8, 9, 10, 100, 1000, 30000}) {
    SCOPED_TRACE(keys);
    KeyMap map(keys);
    std::vector<uint64_t> hashes;
    for (uint64_t i = 0; i < keys; ++i) {
      hashes.push_back(random.Next());
      map.Insert(hashes.back(), static_cast<uint32_t>(i + 1));
    }
    for (uint64_t i = 0; i < keys; ++i) {
      const std::vector<uint32_t> places = PlacesOf(map, hashes[i]);
      ASSERT_NE(std::find(places.begin(), places.end(), i + 1), places.end());
    }
    uint64_t wrong = 0;
    constexpr uint64_t kOthers = 20000;
    for (uint64_t i = 0; i < kOthers; ++i) wrong += PlacesOf(map, random.Next()).size();
    // About nine comparisons of 16 bits a lookup, and more where lines are full: 1 in 5,000.
    EXPECT_LT(wrong, kOthers / 500);
  }
}

// All in one line's range, and all of one hash: they go on into other lines, round the end.
TEST(KeyMapTest, CrowdedLinesGoOnIntoOthers) {
  for (const uint64_t high : {uint64_t{0}, uint64_t{0xffffffff}}) {
    constexpr uint32_t kKeys = 200;
    KeyMap map(kKeys);
    for (uint32_t i = 0; i < kKeys / 2; ++i) map.Insert(high << 32 | i * 77777 % 0xffffffff, i + 1);
    for (uint32_t i = kKeys / 2; i < kKeys; ++i) map.Insert(high << 32 | 5, i + 1);
    for (uint32_t i = 0; i < kKeys / 2; ++i) {
      const std::vector<uint32_t> places = PlacesOf(map, high << 32 | i * 77777 % 0xffffffff);
      ASSERT_NE(std::find(places.begin(), places.end(), i + 1), places.end()) << i;
    }
    const std::vector<uint32_t> places = PlacesOf(map, high << 32 | 5);
    EXPECT_GE(places.size(), kKeys / 2);
    for (uint32_t i = kKeys / 2; i < kKeys; ++i) {
      ASSERT_NE(std::find(places.begin(), places.end(), i + 1), places.end()) << i;
    }
  }
}

TEST(KeyMapTest, PlacesOfAllSizesComeBack) {
  const std::vector<uint32_t> places = {1, 0xff, 0x100, 0xffff, 0x10000, 0x123456, KeyMap::kPlaceEnd - 1};
  KeyMap map(places.size());
  for (size_t i = 0; i < places.size(); ++i) map.Insert(i << 8, places[i]);
  for (size_t i = 0; i < places.size(); ++i) {
    // A tag of 0 counts as 1: key 0 may meet others.
    const std::vector<uint32_t> found = PlacesOf(map, i << 8);
    ASSERT_EQ(found, std::vector<uint32_t>{places[i]});
  }
}

TEST(KeyMapTest, StopsWhenTold) {
  KeyMap map(20);
  for (uint32_t i = 1; i <= 20; ++i) map.Insert(9, i);
  int visits = 0;
  EXPECT_TRUE(map.Find(9, [&visits](uint32_t) { return ++visits == 3; }));
  EXPECT_EQ(visits, 3);
}

}  // namespace
}  // namespace pmlsm
