// Histogram against a sorted list of the same times.
#include "tools/bench/histogram.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"
#include "util/random.h"

namespace pmlsm::bench {
namespace {

TEST(HistogramTest, EmptyHasNoTimes) {
  const Histogram empty;
  EXPECT_EQ(empty.count(), 0u);
  EXPECT_EQ(empty.min(), 0u);
  EXPECT_EQ(empty.max(), 0u);
  EXPECT_EQ(empty.Percentile(50), 0);
}

TEST(HistogramTest, PercentilesAreWithinABucketOfTheExactOnes) {
  Random random(301);
  Histogram histogram;
  std::vector<uint64_t> times;
  for (int i = 0; i < 100000; ++i) {
    const uint64_t nanos = random.Next() >> (24 + random.Uniform(40));
    times.push_back(nanos);
    histogram.Add(nanos);
  }
  std::sort(times.begin(), times.end());
  EXPECT_EQ(histogram.count(), times.size());
  EXPECT_EQ(histogram.min(), times.front());
  EXPECT_EQ(histogram.max(), times.back());
  for (const double percent : {1.0, 10.0, 50.0, 75.0, 99.0, 99.9, 99.99}) {
    const double exact = static_cast<double>(times[static_cast<size_t>(percent / 100 * times.size())]);
    EXPECT_NEAR(histogram.Percentile(percent), exact, exact * 0.1 + 1) << percent;
  }
}

TEST(HistogramTest, TheLargestTimeHasABucket) {
  Histogram histogram;
  histogram.Add(~uint64_t{0});
  EXPECT_EQ(histogram.max(), ~uint64_t{0});
  EXPECT_EQ(histogram.Percentile(99), static_cast<double>(~uint64_t{0}));
}

TEST(HistogramTest, MergeIsTheSameAsAddingAll) {
  Random random(302);
  Histogram whole, left, right;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t nanos = random.Uniform(1000000);
    whole.Add(nanos);
    (i % 3 == 0 ? left : right).Add(nanos);
  }
  left.Merge(right);
  EXPECT_EQ(left.ToString(), whole.ToString());
}

TEST(HistogramTest, LayoutIsRocksDBs) {
  Histogram histogram;
  for (int i = 0; i < 50; ++i) histogram.Add(1000);  // a limit belongs to the row below it
  for (int i = 0; i < 49; ++i) histogram.Add(3500);
  histogram.Add(20000);
  EXPECT_EQ(histogram.ToString(),
            "Count: 100 Average: 2.4150  StdDev: 2.16\n"
            "Min: 1.0000  Median: 1.0000  Max: 20.00\n"
            "Percentiles: P50: 1.00 P75: 3.45 P99: 3.50 P99.9: 19.90 P99.99: 19.99\n"
            "------------------------------------------------------\n"
            "(   0.870,       1 ]       50  50.000%  50.000% ##########\n"
            "(       3,       4 ]       49  49.000%  99.000% ##########\n"
            "(      15,      22 ]        1   1.000% 100.000% \n");
}

}  // namespace
}  // namespace pmlsm::bench
