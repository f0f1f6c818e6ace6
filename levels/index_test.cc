#include "levels/index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "levels/test_support.h"

namespace pmlsm {
namespace {

constexpr uint64_t kSeed = 11;
constexpr uint64_t kPlace = 4096;

struct Separator {
  std::string key;
  bool after;
};

// An index over data nodes at places 0, 64, 128 ..., node i + 1 behind separator i.
class BuiltIndex {
 public:
  BuiltIndex(const Comparator* comparator, const std::vector<Separator>& separators) {
    IndexBuilder builder(comparator == BytewiseComparator());
    builder.Add(0, "", false);
    uint64_t bytes_max = builder.BytesMax();
    for (size_t i = 0; i < separators.size(); ++i) {
      bytes_max = builder.BytesMax() + IndexBuilder::BytesMaxOfAdd(separators[i].key.size());
      builder.Add((i + 1) * kLineBytes, separators[i].key, separators[i].after);
    }
    std::string bytes;
    uint64_t root_place;
    uint32_t levels;
    builder.Finish(kPlace, kSeed, &bytes, &root_place, &levels);
    CHECK(bytes.size() <= bytes_max);
    memory_ = std::make_unique<AlignedMemory>(kPlace + bytes.size());
    memcpy(memory_->data() + kPlace, bytes.data(), bytes.size());
    const Region region{memory_->data(), kPlace, kPlace + bytes.size(), kSeed};
    index_ = std::make_unique<Index>(region, root_place, levels, comparator);
  }
  const Index& operator*() const { return *index_; }
  const Index* operator->() const { return index_.get(); }

 private:
  std::unique_ptr<AlignedMemory> memory_;
  std::unique_ptr<Index> index_;
};

// Sends a key right past each separator below it, or at it unless `after`.
size_t Want(const Comparator* comparator, const std::vector<Separator>& separators, const Slice& key) {
  size_t child = 0;
  for (const Separator& separator : separators) {
    const int order = comparator->Compare(separator.key, key);
    child += order < 0 || (order == 0 && !separator.after);
  }
  return child;
}

class Recorder final : public Index::Visitor {
 public:
  Damage VisitNode(uint64_t place) override {
    nodes.push_back(place);
    return {};
  }
  Damage VisitSeparator(const Slice& separator, bool after, uint64_t) override {
    separators.push_back({separator.ToString(), after});
    return {};
  }
  std::vector<uint64_t> nodes;
  std::vector<Separator> separators;
};

class IndexTest : public testing::TestWithParam<int> {
 protected:
  const Comparator* comparator() const {
    const Comparator* const comparators[] = {BytewiseComparator(), ReverseBytewiseComparator(),
                                             LengthFirst()};
    return comparators[GetParam()];
  }
};
INSTANTIATE_TEST_SUITE_P(All, IndexTest, testing::Values(0, 1, 2));

TEST_P(IndexTest, LeadsToTheFirstNodeThatMayHoldTheKey) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::vector<Separator> separators;
    const size_t count = random.Uniform(seed % 4 == 0 ? 3000 : 40);
    for (size_t i = 0; i < count; ++i) separators.push_back({AwkwardKey(&random), random.OneIn(5)});
    // One key may part several nodes; only the first of its separators can be without `after`.
    std::sort(separators.begin(), separators.end(), [this](const Separator& a, const Separator& b) {
      const int order = comparator()->Compare(a.key, b.key);
      return order != 0 ? order < 0 : a.after < b.after;
    });
    for (size_t i = 1; i < separators.size(); ++i) {
      if (separators[i].key == separators[i - 1].key) separators[i].after = true;
    }
    const BuiltIndex index(comparator(), separators);
    for (int probe = 0; probe < 300; ++probe) {
      std::string key = AwkwardKey(&random);
      if (!separators.empty() && random.OneIn(2)) key = separators[random.Uniform(separators.size())].key;
      if (random.OneIn(4)) key.push_back('\0');
      Index::Cursor cursor;
      ASSERT_FALSE(index->Find(key, &cursor));
      ASSERT_EQ(cursor.place() / kLineBytes, Want(comparator(), separators, key));
    }
    Recorder recorder;
    const Damage damage = index->Check(&recorder);
    ASSERT_FALSE(damage) << damage.what << " at " << damage.place;
    ASSERT_EQ(recorder.nodes.size(), separators.size() + 1);
    ASSERT_EQ(recorder.separators.size(), separators.size());
    for (size_t i = 0; i < separators.size(); ++i) {
      ASSERT_EQ(recorder.separators[i].key, separators[i].key);
      ASSERT_EQ(recorder.separators[i].after, separators[i].after);
    }
    Index::Cursor cursor;
    ASSERT_FALSE(index->First(&cursor));
    for (size_t i = 0; i <= separators.size(); ++i) {
      ASSERT_EQ(cursor.place(), i * kLineBytes);
      if (i < separators.size()) {
        ASSERT_FALSE(index->Next(&cursor));
      } else {
        ASSERT_TRUE(index->Next(&cursor)) << "past the end";
      }
    }
    ASSERT_FALSE(index->Last(&cursor));
    for (size_t i = separators.size() + 1; i-- > 0;) {
      ASSERT_EQ(cursor.place(), i * kLineBytes);
      if (i > 0) {
        ASSERT_FALSE(index->Prev(&cursor));
      } else {
        ASSERT_TRUE(index->Prev(&cursor)) << "before the start";
      }
    }
  }
}

TEST_P(IndexTest, LongSeparatorsThatShareNothing) {
  std::vector<Separator> separators;
  for (int i = 0; i < 60; ++i) {
    separators.push_back({std::string(1, static_cast<char>('A' + i)) + std::string(65535, 'x'), false});
  }
  std::sort(separators.begin(), separators.end(), [this](const Separator& a, const Separator& b) {
    return comparator()->Compare(a.key, b.key) < 0;
  });
  const BuiltIndex index(comparator(), separators);
  for (const Separator& separator : separators) {
    for (const std::string& key :
         {separator.key, separator.key.substr(0, 65535), separator.key.substr(0, 1)}) {
      Index::Cursor cursor;
      ASSERT_FALSE(index->Find(key, &cursor));
      ASSERT_EQ(cursor.place() / kLineBytes, Want(comparator(), separators, key));
    }
  }
}

}  // namespace
}  // namespace pmlsm
