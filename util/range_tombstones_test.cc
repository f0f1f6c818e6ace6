// RangeTombstones against the plain list of ranges.
#include "util/range_tombstones.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "util/random.h"

namespace pmlsm {
namespace {

constexpr int kKeys = 12;

std::string Key(int i) { return std::string(1, static_cast<char>('a' + i)); }

struct Range {
  int begin;
  int end;
  SequenceNumber sequence;
};
using Ranges = std::vector<Range>;

RangeTombstones Make(const Ranges& ranges, const Comparator* comparator = BytewiseComparator()) {
  std::vector<std::string> keys;
  for (const Range& range : ranges) {
    keys.push_back(Key(range.begin));
    keys.push_back(Key(range.end));
  }
  std::vector<RangeTombstone> tombstones;
  for (size_t i = 0; i < ranges.size(); ++i)
    tombstones.push_back({keys[2 * i], keys[2 * i + 1], ranges[i].sequence});
  return RangeTombstones(comparator, tombstones);
}

SequenceNumber Covering(const Ranges& ranges, int key, SequenceNumber snapshot) {
  SequenceNumber newest = 0;
  for (const Range& range : ranges) {
    if (range.begin <= key && key < range.end && range.sequence <= snapshot) {
      newest = std::max(newest, range.sequence);
    }
  }
  return newest;
}

Ranges RandomRanges(Random* random, int count) {
  Ranges ranges;
  for (int i = 0; i < count; ++i) {
    // Some are empty, some reversed.
    ranges.push_back({static_cast<int>(random->Uniform(kKeys)), static_cast<int>(random->Uniform(kKeys)),
                      SequenceNumber{1} + random->Uniform(20)});
  }
  return ranges;
}

void ExpectInOrder(const RangeTombstones& tombstones) {
  const std::string* end = nullptr;
  for (const RangeTombstones::Fragment& fragment : tombstones.fragments()) {
    ASSERT_LT(fragment.begin, fragment.end);
    if (end != nullptr) {
      ASSERT_LE(*end, fragment.begin);
    }
    end = &fragment.end;
    ASSERT_FALSE(fragment.sequences.empty());
    for (size_t i = 1; i < fragment.sequences.size(); ++i)
      ASSERT_GT(fragment.sequences[i - 1], fragment.sequences[i]);
  }
}

TEST(RangeTombstonesTest, AnswersAsThePlainList) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    const Ranges ranges = RandomRanges(&random, round % 9);
    const RangeTombstones tombstones = Make(ranges);
    ExpectInOrder(tombstones);
    for (SequenceNumber snapshot = 0; snapshot <= 21; ++snapshot) {
      RangeTombstones::Cursor cursor(&tombstones);
      for (int key = 0; key < kKeys; ++key) {
        const SequenceNumber expected = Covering(ranges, key, snapshot);
        ASSERT_EQ(tombstones.NewestCovering(Key(key), snapshot), expected);
        ASSERT_EQ(cursor.NewestCovering(Key(key), snapshot), expected);
      }
    }
  }
}

TEST(RangeTombstonesTest, ClippedPartsAreTheWhole) {
  Random random(2);
  for (int round = 0; round < 1000; ++round) {
    const Ranges ranges = RandomRanges(&random, 6);
    const RangeTombstones whole = Make(ranges);
    const int cut = static_cast<int>(random.Uniform(kKeys));
    const std::string cut_key = Key(cut);
    const Slice bound(cut_key);
    const RangeTombstones below = whole.Clip(nullptr, &bound);
    const RangeTombstones above = whole.Clip(&bound, nullptr);
    ExpectInOrder(below);
    ExpectInOrder(above);
    for (int key = 0; key < kKeys; ++key) {
      const SequenceNumber expected = Covering(ranges, key, kMaxSequenceNumber);
      EXPECT_EQ((key < cut ? below : above).NewestCovering(Key(key), kMaxSequenceNumber), expected);
      EXPECT_EQ((key < cut ? above : below).NewestCovering(Key(key), kMaxSequenceNumber), 0u);
    }
  }
}

// To a reader, two deletions are one if the same versions are older than them and visible.
TEST(RangeTombstonesTest, SurvivorsDeleteTheSameForEveryReader) {
  Random random(3);
  for (int round = 0; round < 2000; ++round) {
    const Ranges ranges = RandomRanges(&random, 6);
    const RangeTombstones before = Make(ranges);
    std::vector<SequenceNumber> snapshots;
    for (SequenceNumber s = 1; s <= 20; ++s)
      if (random.Uniform(4) == 0) snapshots.push_back(s);
    const int held_from = static_cast<int>(random.Uniform(kKeys));  // older runs hold the keys from here on
    const RangeTombstones after = before.Surviving(
        snapshots, [&](const Slice&, const Slice& end) { return end.compare(Key(held_from)) > 0; });
    ExpectInOrder(after);
    std::vector<SequenceNumber> readers = snapshots;
    readers.push_back(kMaxSequenceNumber);
    for (const SequenceNumber reader : readers) {
      for (int key = 0; key < kKeys; ++key) {
        const SequenceNumber was = before.NewestCovering(Key(key), reader);
        const SequenceNumber is = after.NewestCovering(Key(key), reader);
        // What was there for the oldest snapshot may be gone where nothing older is held.
        const bool may_go = key < held_from && (snapshots.empty() || was <= snapshots.front());
        EXPECT_TRUE(is == was || (may_go && is == 0)) << was << " " << is;
      }
    }
    for (const RangeTombstones::Fragment& fragment : after.fragments())
      EXPECT_LE(fragment.sequences.size(), snapshots.size() + 1);
  }
}

TEST(RangeTombstonesTest, ManyRangesThatTouchAreOneFragment) {
  Ranges ranges;
  for (int i = 0; i + 1 < kKeys; ++i) ranges.push_back({i, i + 1, 7});
  EXPECT_EQ(Make(ranges).fragments().size(), 1u);
}

}  // namespace
}  // namespace pmlsm
