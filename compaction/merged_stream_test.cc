// Both merge orders by their one contract: all entries of all sources, in internal order; an error of a
// source ends the stream and shows.
#include "compaction/merged_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compaction/forward_iterator.h"
#include "util/random.h"

namespace pmlsm {
namespace {

struct OwnedEntry {
  std::string key;
  Tag tag;
  std::string value;
};
using Entries = std::vector<OwnedEntry>;

// A source over a vector; fails instead of giving entry number `fail_at` (the end counts as one).
class VectorSource final : public ForwardIterator {
 public:
  explicit VectorSource(const Entries* entries, size_t fail_at = SIZE_MAX)
      : entries_(entries), fail_at_(fail_at) {}

  void SeekToFirst() override { Show(0); }
  void Next() override {
    CHECK(valid_);
    Show(at_ + 1);
  }
  Status status() const override { return status_; }

 private:
  void Show(size_t at) {
    at_ = at;
    status_ = at == fail_at_ ? Status::Corruption("source", std::to_string(at)) : Status::OK();
    valid_ = status_.ok() && at < entries_->size();
    if (valid_) entry_ = {(*entries_)[at].key, (*entries_)[at].tag, (*entries_)[at].value};
  }

  const Entries* const entries_;
  const size_t fail_at_;
  size_t at_ = 0;
  Status status_;
};

// The sources as they are, and the naive merge: all of them, sorted.
struct Case {
  const Comparator* comparator;
  std::vector<Entries> inputs;

  void Sort(Entries* entries) const {
    std::sort(entries->begin(), entries->end(), [this](const OwnedEntry& a, const OwnedEntry& b) {
      const int order = comparator->Compare(a.key, b.key);
      return order != 0 ? order < 0 : a.tag > b.tag;
    });
  }
  void SortInputs() {
    for (Entries& input : inputs) Sort(&input);
  }
  Entries Merged() const {
    Entries all;
    for (const Entries& input : inputs) all.insert(all.end(), input.begin(), input.end());
    Sort(&all);
    return all;
  }
  // Source `failing` fails at its entry `fail_at`.
  Sources Open(size_t failing = SIZE_MAX, size_t fail_at = SIZE_MAX) const {
    Sources sources;
    for (size_t i = 0; i < inputs.size(); ++i) {
      sources.push_back(std::make_unique<VectorSource>(&inputs[i], i == failing ? fail_at : SIZE_MAX));
    }
    return sources;
  }
};

// Takes what the stream gives, which must be the front of `expected`; returns how many.
size_t TakeFrom(InternalIterator* stream, const Entries& expected) {
  size_t taken = 0;
  for (stream->SeekToFirst(); stream->valid(); stream->Next(), ++taken) {
    if (taken == expected.size()) {
      ADD_FAILURE() << "more than there is: " << stream->entry().key.ToString();
      break;
    }
    const Entry& entry = stream->entry();
    const OwnedEntry& want = expected[taken];
    if (entry.key.ToString() != want.key || entry.tag != want.tag || entry.value.ToString() != want.value) {
      ADD_FAILURE() << "entry " << taken << " is " << entry.key.ToString() << "@" << TagSequence(entry.tag)
                    << ", not " << want.key << "@" << TagSequence(want.tag);
      break;
    }
  }
  return taken;
}

class MergedStreamTest : public testing::TestWithParam<std::tuple<MergeOrder, bool>> {
 protected:
  static const Comparator* comparator() {
    return std::get<1>(GetParam()) ? ReverseBytewiseComparator() : BytewiseComparator();
  }
  static std::unique_ptr<InternalIterator> Merge(const Case& c, Sources sources) {
    return NewMergedStream(std::get<0>(GetParam()), c.comparator, std::move(sources));
  }

  static void ExpectMerges(const Case& c) {
    const Entries expected = c.Merged();
    const auto stream = Merge(c, c.Open());
    for (int pass = 0; pass < 2; ++pass) {  // a second SeekToFirst begins again
      ASSERT_EQ(TakeFrom(stream.get(), expected), expected.size());
      ASSERT_TRUE(stream->status().ok());
    }
  }

  // With source `failing` ending in an error instead of its entry `fail_at`: nothing that sorts behind the
  // missing entry may come, as if it did not exist, and the end is the error.
  static void ExpectStops(const Case& c, size_t failing, size_t fail_at) {
    const Entries expected = c.Merged();
    const auto stream = Merge(c, c.Open(failing, fail_at));
    const size_t taken = TakeFrom(stream.get(), expected);
    ASSERT_TRUE(stream->status().IsCorruption()) << stream->status().ToString();
    ASSERT_NE(stream->status().ToString().find("source: " + std::to_string(fail_at)), std::string::npos);
    if (fail_at < c.inputs[failing].size()) {
      const OwnedEntry& missing = c.inputs[failing][fail_at];
      for (size_t i = 0; i < taken; ++i) {
        ASSERT_FALSE(expected[i].key == missing.key && expected[i].tag == missing.tag);
      }
    }
  }

  static Case RandomCase(Random* random, size_t inputs_max) {
    Case c{comparator(), std::vector<Entries>(random->Uniform(inputs_max + 1))};
    if (c.inputs.empty()) return c;
    const uint64_t entries = random->Uniform(400);
    const uint64_t keys = 1 + random->Uniform(200);
    // Some inputs get far more than others.
    const uint64_t spread = 1 + random->Uniform(c.inputs.size());
    for (SequenceNumber sequence = 1; sequence <= entries; ++sequence) {
      std::string key(random->Uniform(3), static_cast<char>(random->OneIn(2) ? 0xff : 0));
      key += std::to_string(random->Uniform(keys));
      const auto type = random->OneIn(4) ? ValueType::kDeletion : ValueType::kValue;
      Entries* const input = &c.inputs[random->Uniform(random->OneIn(5) ? c.inputs.size() : spread)];
      input->push_back({std::move(key), MakeTag(sequence, type), "value " + std::to_string(sequence)});
    }
    c.SortInputs();
    return c;
  }
};

TEST_P(MergedStreamTest, NoSourcesAreAnEmptyStream) { ExpectMerges({comparator(), {}}); }

// Five entries of two keys, each in any of up to four sources: every distribution, every empty source.
TEST_P(MergedStreamTest, EveryDistributionOfFewEntriesIsMerged) {
  const Entries entries = {{"a", MakeTag(9, ValueType::kValue), "1"},
                           {"a", MakeTag(4, ValueType::kDeletion), ""},
                           {"b", MakeTag(8, ValueType::kDeletion), ""},
                           {"b", MakeTag(7, ValueType::kValue), "2"},
                           {"b", MakeTag(1, ValueType::kValue), "3"}};
  for (size_t sources = 1; sources <= 4; ++sources) {
    // Digit i of `distribution`, base sources + 1: where entry i goes; the last digit: nowhere.
    size_t distributions = 1;
    for (size_t i = 0; i < entries.size(); ++i) distributions *= sources + 1;
    for (size_t distribution = 0; distribution < distributions; ++distribution) {
      Case c{comparator(), std::vector<Entries>(sources)};
      size_t rest = distribution;
      for (const OwnedEntry& entry : entries) {
        if (rest % (sources + 1) < sources) c.inputs[rest % (sources + 1)].push_back(entry);
        rest /= sources + 1;
      }
      c.SortInputs();
      ASSERT_NO_FATAL_FAILURE(ExpectMerges(c)) << sources << " sources, distribution " << distribution;
      ASSERT_FALSE(HasFailure()) << sources << " sources, distribution " << distribution;
    }
  }
}

TEST_P(MergedStreamTest, RandomSourcesAreMerged) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    ASSERT_NO_FATAL_FAILURE(ExpectMerges(RandomCase(&random, 20))) << "seed " << seed;
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

// Every source fails at every place, the end included.
TEST_P(MergedStreamTest, AFailingSourceEndsTheStreamWithItsError) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const Case c = RandomCase(&random, 9);
    for (size_t failing = 0; failing < c.inputs.size(); ++failing) {
      for (size_t fail_at = 0; fail_at <= c.inputs[failing].size(); ++fail_at) {
        ASSERT_NO_FATAL_FAILURE(ExpectStops(c, failing, fail_at))
            << "seed " << seed << ", source " << failing << ", entry " << fail_at;
        ASSERT_FALSE(HasFailure()) << "seed " << seed << ", source " << failing << ", entry " << fail_at;
      }
    }
  }
}

// What came before the missing entry did come: an error does not cost what is known to be good.
TEST_P(MergedStreamTest, EntriesBeforeTheErrorCome) {
  Case c{comparator(), std::vector<Entries>(3)};
  for (uint64_t i = 0; i < 9; ++i) {
    c.inputs[i % 3].push_back(
        {std::string(1, static_cast<char>('a' + i)), MakeTag(1, ValueType::kValue), ""});
  }
  c.SortInputs();
  const Entries expected = c.Merged();
  const auto stream = Merge(c, c.Open(1, 2));
  // The source is asked for its third entry once its second, the fifth of all, is behind.
  EXPECT_EQ(TakeFrom(stream.get(), expected), 5u);
  EXPECT_TRUE(stream->status().IsCorruption());
}

std::string ParamName(const testing::TestParamInfo<MergedStreamTest::ParamType>& info) {
  const auto [order, reverse] = info.param;
  return std::string(order == MergeOrder::k2Way ? "TwoWay" : "KWay") + (reverse ? "Reverse" : "Bytewise");
}

INSTANTIATE_TEST_SUITE_P(, MergedStreamTest,
                         testing::Combine(testing::Values(MergeOrder::k2Way, MergeOrder::kKWay),
                                          testing::Bool()),
                         ParamName);

}  // namespace
}  // namespace pmlsm
