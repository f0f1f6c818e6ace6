// Status, Slice, Comparator, PinnableSlice, Options and coding by their contracts.
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "pmlsm/comparator.h"
#include "pmlsm/options.h"
#include "pmlsm/pinnable_slice.h"
#include "pmlsm/status.h"
#include "util/coding.h"

namespace pmlsm {
namespace {

TEST(StatusTest, TextNamesCodeSubcodeWhatAndWhere) {
  EXPECT_EQ(Status::OK().ToString(), "OK");
  EXPECT_EQ(Status::Corruption("table 7", "node 3").ToString(), "Corruption: table 7: node 3");
  EXPECT_EQ(Status::NoSpace("log").ToString(), "IO error: No space left on device: log");
  EXPECT_TRUE(Status::NoSpace("log").IsIOError());
  EXPECT_TRUE(Status::NoSpace("log").IsNoSpace());
}

TEST(StatusTest, CopyKeepsTheMessageAndMoveTakesIt) {
  const Status original = Status::Busy("held", "by a test");
  Status copy = original;
  EXPECT_EQ(copy.ToString(), original.ToString());
  const Status moved = std::move(copy);
  EXPECT_EQ(moved.ToString(), original.ToString());
}

TEST(SliceTest, OrdersUnsignedBytesShorterFirst) {
  EXPECT_LT(Slice("a").compare(Slice("b")), 0);
  EXPECT_LT(Slice("a").compare(Slice("aa")), 0);
  EXPECT_LT(Slice("\x7f").compare(Slice("\x80")), 0);
  EXPECT_LT(Slice().compare(Slice("a")), 0);
  EXPECT_EQ(Slice("\xff\x01", 2).ToString(true), "FF01");
}

TEST(ComparatorTest, SeparatorStaysBetweenStartAndLimit) {
  const char* const keys[] = {"", "a", "aa", "ab", "abc", "ac", "b", "\xff", "\xff\xff"};
  for (const Comparator* comparator : {BytewiseComparator(), ReverseBytewiseComparator()}) {
    for (const char* start : keys) {
      for (const char* limit : keys) {
        if (comparator->Compare(start, limit) >= 0) continue;
        std::string separator = start;
        comparator->FindShortestSeparator(&separator, limit);
        EXPECT_GE(comparator->Compare(separator, start), 0) << start << " " << limit;
        EXPECT_LT(comparator->Compare(separator, limit), 0) << start << " " << limit;
      }
    }
  }
}

TEST(PinnableSliceTest, ReleasesOnceWhoeverHoldsItLast) {
  int released = 0;
  const auto release = [](void* counter, void*) { ++*static_cast<int*>(counter); };
  {
    PinnableSlice first;
    first.PinSlice("value", release, &released, nullptr);
    PinnableSlice second = std::move(first);
    EXPECT_TRUE(first.empty());
    EXPECT_EQ(second.ToString(), "value");
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(PinnableSliceTest, MovedCopyOfItsOwnStaysReadable) {
  PinnableSlice first;
  first.PinSelf("x");  // short enough to lie inside the string object
  const PinnableSlice second = std::move(first);
  EXPECT_EQ(second.ToString(), "x");
}

TEST(OptionsTest, DefaultsAreValid) { EXPECT_TRUE(Options().Validate().ok()); }

TEST(OptionsTest, EachBadValueIsNamedWithItsRange) {
  const auto message = [](void (*change)(Options*)) {
    Options options;
    change(&options);
    return options.Validate().ToString();
  };
  EXPECT_EQ(message([](Options* o) { o->size_ratio = 1; }),
            "Invalid argument: size_ratio = 1: must be 2 to 32");
  EXPECT_EQ(message([](Options* o) { o->num_levels = -3; }),
            "Invalid argument: num_levels = -3: must be 1 to 16");
  EXPECT_EQ(message([](Options* o) { o->extent_bytes = 5000; }),
            "Invalid argument: extent_bytes = 5000: must be a power of two from 4096 to 67108864");
  EXPECT_EQ(message([](Options* o) { o->comparator = nullptr; }),
            "Invalid argument: comparator = null: must be a comparator");
  EXPECT_EQ(message([](Options* o) { o->compaction_style = static_cast<CompactionStyle>(3); }),
            "Invalid argument: compaction_style = 3: must be one of the named values");
  EXPECT_EQ(message([](Options* o) { o->memtable = static_cast<MemTableType>(9); }),
            "Invalid argument: memtable = 9: must be one of the named values");
}

TEST(CodingTest, VarintsOfEveryLengthComeBackAndCutOnesAreRefused) {
  for (const uint32_t value :
       {0u, 1u, 127u, 128u, 16383u, 16384u, 2097151u, 268435455u, 268435456u, UINT32_MAX}) {
    std::string text;
    PutVarint32(&text, value);
    EXPECT_EQ(text.size(), VarintBytes(value));
    Slice input = text;
    uint32_t read = 0;
    ASSERT_TRUE(GetVarint32(&input, &read));
    EXPECT_EQ(read, value);
    EXPECT_TRUE(input.empty());
    input = Slice(text.data(), text.size() - 1);
    EXPECT_FALSE(GetVarint32(&input, &read));
  }
  const std::string too_large = "\xff\xff\xff\xff\x7f";
  Slice input = too_large;
  uint32_t read = 0;
  EXPECT_FALSE(GetVarint32(&input, &read));
}

}  // namespace
}  // namespace pmlsm
