// Both memtables by one contract, under three orders, against a std::map.
#include "memtable/memtable_rep.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "util/hash.h"
#include "util/random.h"

namespace pmlsm {
namespace {

// Enough for trees and directories of several levels.
constexpr int kInserts = 8000;

// Shorter keys first, then bytewise: an order that no prefix of a key tells anything about.
class ShortestFirst final : public Comparator {
 public:
  const char* Name() const override { return "test.ShortestFirst"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
};

const Comparator* ShortestFirstComparator() {
  static const ShortestFirst comparator;
  return &comparator;
}

struct VersionKey {
  std::string key;
  Tag tag;
};

struct VersionLess {
  const Comparator* comparator;
  bool operator()(const VersionKey& a, const VersionKey& b) const {
    return CompareInternal(*comparator, a.key, a.tag, b.key, b.tag) < 0;
  }
};

using Model = std::map<VersionKey, std::string, VersionLess>;

class MemTableRepTest : public testing::TestWithParam<std::tuple<MemTableType, const Comparator*>> {
 protected:
  MemTableRepTest() : rep_(MemTableRep::New(std::get<0>(GetParam()), comparator())) {}

  static const Comparator* comparator() { return std::get<1>(GetParam()); }

  // At the next sequence number.
  void Insert(const std::string& key, const std::string& value, ValueType type = ValueType::kValue) {
    InsertAt(key, MakeTag(++sequence_, type), value);
  }
  void InsertAt(const std::string& key, Tag tag, const std::string& value) {
    rep_->Insert(key, tag, value);
    model_.emplace(VersionKey{key, tag}, value);
  }

  static void ExpectEntry(const Entry& entry, const Model::value_type& expected) {
    ASSERT_EQ(entry.key, Slice(expected.first.key));
    ASSERT_EQ(entry.tag, expected.first.tag);
    ASSERT_TRUE(entry.value == Slice(expected.second));
  }
  void ExpectAt(const InternalIterator& iterator, Model::const_iterator expected) const {
    ASSERT_EQ(iterator.valid(), expected != model_.end());
    if (iterator.valid()) ExpectEntry(iterator.entry(), *expected);
  }
  void ExpectGet(const std::string& key, SequenceNumber snapshot) const {
    const auto expected = model_.lower_bound(VersionKey{key, SeekTag(snapshot)});
    const bool found = expected != model_.end() && expected->first.key == key;
    Entry entry;
    ASSERT_EQ(rep_->Get(key, snapshot, &entry), found);
    if (found) ExpectEntry(entry, *expected);
  }
  // The last element <= (key, tag), or end().
  Model::const_iterator AtOrBefore(const std::string& key, Tag tag) const {
    const auto after = model_.upper_bound(VersionKey{key, tag});
    return after == model_.begin() ? model_.end() : std::prev(after);
  }
  void ExpectSeeks(InternalIterator* iterator, const std::string& key, Tag tag) const {
    iterator->Seek(key, tag);
    ExpectAt(*iterator, model_.lower_bound(VersionKey{key, tag}));
    iterator->SeekForPrev(key, tag);
    ExpectAt(*iterator, AtOrBefore(key, tag));
  }
  void ExpectWalks(InternalIterator* iterator) const {
    iterator->SeekToFirst();
    for (auto expected = model_.begin(); expected != model_.end(); ++expected, iterator->Next()) {
      ASSERT_TRUE(iterator->valid());
      ExpectEntry(iterator->entry(), *expected);
    }
    ASSERT_FALSE(iterator->valid());
    iterator->SeekToLast();
    for (auto expected = model_.rbegin(); expected != model_.rend(); ++expected, iterator->Prev()) {
      ASSERT_TRUE(iterator->valid());
      ExpectEntry(iterator->entry(), *expected);
    }
    ASSERT_FALSE(iterator->valid());
    ASSERT_TRUE(iterator->status().ok());
  }
  // Every version, walks, and seeks to and around each step-th element.
  void ExpectSameAsModel(size_t step = 1) const {
    ASSERT_EQ(rep_->entries(), model_.size());
    const std::unique_ptr<InternalIterator> iterator = rep_->NewIterator();
    ExpectWalks(iterator.get());
    size_t i = 0;
    for (const auto& [version, value] : model_) {
      if (i++ % step != 0) continue;
      const SequenceNumber sequence = TagSequence(version.tag);
      ExpectGet(version.key, sequence);
      ExpectGet(version.key, sequence - 1);
      ExpectGet(version.key, kMaxSequenceNumber);
      ExpectGet(version.key + '\0', kMaxSequenceNumber);
      ExpectSeeks(iterator.get(), version.key, version.tag);
      ExpectSeeks(iterator.get(), version.key, version.tag + 1);
      ExpectSeeks(iterator.get(), version.key, version.tag - 1);
      ExpectSeeks(iterator.get(), version.key + '\0', kMaxTag);
      ExpectSeeks(iterator.get(), version.key.substr(0, version.key.size() / 2), 0);
    }
  }

  const std::unique_ptr<MemTableRep> rep_;
  Model model_{VersionLess{comparator()}};
  SequenceNumber sequence_ = 0;
};

std::string ParamName(const testing::TestParamInfo<MemTableRepTest::ParamType>& info) {
  const auto [type, comparator] = info.param;
  return std::string(type == MemTableType::kSorted ? "Sorted" : "Hash") +
         (comparator == BytewiseComparator()          ? "Bytewise"
          : comparator == ReverseBytewiseComparator() ? "Reverse"
                                                      : "Custom");
}

INSTANTIATE_TEST_SUITE_P(, MemTableRepTest,
                         testing::Combine(testing::Values(MemTableType::kSorted, MemTableType::kHash),
                                          testing::Values(BytewiseComparator(), ReverseBytewiseComparator(),
                                                          ShortestFirstComparator())),
                         ParamName);

std::string Decimal(uint64_t number) {
  std::string text = std::to_string(number);
  return std::string(16 - std::min<size_t>(16, text.size()), '0') + text;
}

std::string RandomBytes(Random* random, size_t bytes, uint64_t alphabet = 256) {
  std::string text;
  for (size_t i = 0; i < bytes; ++i) text.push_back(static_cast<char>(random->Uniform(alphabet)));
  return text;
}

// Printed, so that a failure can be repeated.
uint64_t Seed() {
  const uint64_t seed = testing::UnitTest::GetInstance()->random_seed() + 20240601;
  printf("seed %llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

TEST_P(MemTableRepTest, EmptyHasNothing) { ExpectSameAsModel(); }

TEST_P(MemTableRepTest, RandomKeysAgreeWithTheModel) {
  Random random(Seed());
  for (int i = 0; i < kInserts; ++i) Insert(RandomBytes(&random, 16), std::to_string(i));
  ExpectSameAsModel(7);
}

TEST_P(MemTableRepTest, OverwritesAndTombstonesAreVersions) {
  Random random(Seed());
  for (int i = 0; i < kInserts; ++i) {
    Insert(Decimal(random.Uniform(3000)), std::to_string(i),
           random.OneIn(4) ? ValueType::kDeletion : ValueType::kValue);
  }
  ExpectSameAsModel(7);
}

TEST_P(MemTableRepTest, AscendingKeysAgreeWithTheModel) {
  for (int i = 0; i < kInserts; ++i) Insert(Decimal(i), std::to_string(i));
  ExpectSameAsModel(7);
}

TEST_P(MemTableRepTest, DescendingKeysAgreeWithTheModel) {
  for (int i = kInserts; i > 0; --i) Insert(Decimal(i), std::to_string(i));
  ExpectSameAsModel(7);
}

TEST_P(MemTableRepTest, VersionsMayComeInAnyOrderOfTheirTags) {
  Random random(Seed());
  std::vector<SequenceNumber> sequences(3000);
  for (size_t i = 0; i < sequences.size(); ++i) sequences[i] = i + 1;
  for (size_t i = sequences.size() - 1; i > 0; --i) std::swap(sequences[i], sequences[random.Uniform(i + 1)]);
  for (const SequenceNumber sequence : sequences) {
    InsertAt(Decimal(sequence % 7), MakeTag(sequence, ValueType::kValue), std::to_string(sequence));
  }
  ExpectSameAsModel();
}

TEST_P(MemTableRepTest, ManyVersionsOfOneKeyAreNotQuadratic) {
  constexpr int kVersions = 200000;
  for (int i = 0; i < kVersions; ++i) Insert("key", std::to_string(i));
  Insert("kex", "");
  Insert("kez", "");
  ExpectWalks(rep_->NewIterator().get());
  for (SequenceNumber snapshot = kVersions - 1000; snapshot < kVersions + 2; ++snapshot) {
    ExpectGet("key", snapshot);
  }
  ExpectGet("key", 0);
  ExpectGet("key", 1);
}

TEST_P(MemTableRepTest, AwkwardKeysAgreeWithTheModel) {
  std::vector<std::string> keys = {"", std::string(kMaxKeyBytes, '\0'), std::string(kMaxKeyBytes, '\xff')};
  for (const size_t bytes : {1, 2, 7, 8, 9, 15, 16, 17, 64, 600}) {
    for (const char byte : {'\0', '\1', '\x7f', '\x80', '\xff'}) {
      keys.push_back(std::string(bytes, byte));
      keys.push_back(std::string(bytes, byte) + '\0');
      keys.push_back(std::string(bytes, byte) + '\xff');
    }
  }
  for (int round = 0; round < 3; ++round) {
    for (const std::string& key : keys) Insert(key, key.substr(0, 10));
  }
  ExpectSameAsModel();
}

TEST_P(MemTableRepTest, LongSharedPrefixesAgreeWithTheModel) {
  Random random(Seed());
  const std::string prefixes[] = {"", "user", std::string(40, 'p'), std::string(700, 'q'),
                                  std::string(40, 'p') + "/" + std::string(30, '\0')};
  for (int i = 0; i < kInserts; ++i) {
    Insert(prefixes[random.Uniform(5)] + Decimal(random.Uniform(1000000)), std::to_string(i));
  }
  ExpectSameAsModel(7);
}

TEST_P(MemTableRepTest, KeysOfFewDistinctBytesAgreeWithTheModel) {
  Random random(Seed());
  for (int i = 0; i < kInserts; ++i) {
    Insert(RandomBytes(&random, random.Uniform(24), 2), std::to_string(i));
  }
  ExpectSameAsModel(7);
}

// The hash memtable's directory would need 2^10 entries to tell them apart.
TEST_P(MemTableRepTest, KeysWhoseHashesShareTheirTopBitsAgreeWithTheModel) {
  Random random(Seed());
  for (int i = 0; i < 2000;) {
    const std::string key = RandomBytes(&random, 8);
    if ((KeyHash(key) >> 54) != 0) continue;
    Insert(key, std::to_string(i++));
  }
  EXPECT_LE(rep_->ApproximateBytes(), size_t{1} << 20);
  ExpectSameAsModel(7);
}

TEST_P(MemTableRepTest, KeysAndValuesOfAllSizesComeBackWhole) {
  Random random(Seed());
  for (const size_t bytes : {0, 1, 100, 4096, 65536, 524288, 1 << 20, 4 << 20}) {
    Insert(RandomBytes(&random, 16), RandomBytes(&random, bytes));
    Insert(RandomBytes(&random, 16), std::string(bytes, 'v'));
  }
  for (int i = 0; i < 200; ++i) Insert(RandomBytes(&random, random.Uniform(kMaxKeyBytes)), "");
  ExpectSameAsModel();
}

TEST_P(MemTableRepTest, EntriesStayWhereTheyAre) {
  Insert("stays", "here");
  Entry before;
  ASSERT_TRUE(rep_->Get("stays", kMaxSequenceNumber, &before));
  for (int i = 0; i < kInserts; ++i) Insert(Decimal(i), "");
  Entry after;
  ASSERT_TRUE(rep_->Get("stays", kMaxSequenceNumber, &after));
  EXPECT_EQ(before.value.data(), after.value.data());
  EXPECT_EQ(before.value, Slice("here"));
}

TEST_P(MemTableRepTest, BytesFollowTheContent) {
  const size_t empty_bytes = rep_->ApproximateBytes();
  EXPECT_LE(empty_bytes, size_t{8} << 10);
  for (int i = 0; i < 10000; ++i) Insert(Decimal(i), std::string(100, 'v'));
  EXPECT_GE(rep_->ApproximateBytes(), size_t{10000} * (16 + 100));
  EXPECT_LE(rep_->ApproximateBytes(), size_t{10000} * (16 + 100) * 2);
}

// What an iterator sees between inserts: all that was there when it was made, in order, once.
TEST_P(MemTableRepTest, AnIteratorStaysRightWhileKeysComeIn) {
  Random random(Seed());
  for (int i = 0; i < 2000; ++i) Insert(RandomBytes(&random, 8), "");
  for (const bool forward : {true, false}) {
    const Model before = model_;
    const std::unique_ptr<InternalIterator> iterator = rep_->NewIterator();
    forward ? iterator->SeekToFirst() : iterator->SeekToLast();
    std::vector<VersionKey> seen;
    while (iterator->valid()) {
      seen.push_back(VersionKey{iterator->entry().key.ToString(), iterator->entry().tag});
      // Several for each step, but not for ever, or the walk would not end.
      for (int i = 0; i < 10 && model_.size() < before.size() + 10000; ++i)
        Insert(RandomBytes(&random, 8), "");
      forward ? iterator->Next() : iterator->Prev();
    }
    if (!forward) std::reverse(seen.begin(), seen.end());
    const VersionLess less{comparator()};
    for (size_t i = 1; i < seen.size(); ++i) ASSERT_TRUE(less(seen[i - 1], seen[i]));
    for (const VersionKey& version : seen) ASSERT_EQ(model_.count(version), 1u);
    for (const auto& [version, value] : before) {
      const auto at = std::lower_bound(seen.begin(), seen.end(), version, less);
      ASSERT_TRUE(at != seen.end() && !less(version, *at));
    }
  }
}

}  // namespace
}  // namespace pmlsm
