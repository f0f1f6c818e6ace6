// Histogram: how long operations took, in nanoseconds, printed in RocksDB's layout in microseconds.
//
// A bucket is the range of times that share their two most significant decimal digits; times up to 100 ns
// have a bucket each. So a percentile is right to within 1 to 10 %, and RocksDB's row limits (1, 2, 3, 4, 6,
// 10, 15, 22, 34, ...) fall on bucket limits. Limits belong to the bucket below them, as in RocksDB's "( 3, 4
// ]".
//
// Thread safety: one thread at a time; a thread fills its own, Merge adds them up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace pmlsm::bench {

class Histogram {
 public:
  void Add(uint64_t nanos, uint64_t times = 1);
  void Merge(const Histogram& other);

  uint64_t count() const { return count_; }
  uint64_t min() const { return count_ == 0 ? 0 : min_; }
  uint64_t max() const { return max_; }
  double Average() const;
  double StandardDeviation() const;
  // percent in [0, 100]. Linear within the bucket, never outside [min, max]; 0 if nothing was added.
  double Percentile(double percent) const;

  // RocksDB's HistogramStat::ToString, with rows below 1 us as well.
  std::string ToString() const;

 private:
  static constexpr size_t kUnitBuckets = 100;   // times 0 and 1, 2, ..., 100 ns
  static constexpr size_t kDecadeBuckets = 90;  // the numbers 10 to 99
  static constexpr size_t kDecades = 18;        // 10^2 to 10^19, all of uint64_t
  static constexpr size_t kBuckets = kUnitBuckets + kDecades * kDecadeBuckets;

  static size_t BucketOf(uint64_t nanos);
  // The largest time of the bucket.
  static double UpperLimit(size_t bucket);
  static double LowerLimit(size_t bucket) { return bucket == 0 ? 0 : UpperLimit(bucket - 1); }
  std::string Rows() const;

  std::array<uint64_t, kBuckets> buckets_{};
  uint64_t count_ = 0;
  uint64_t min_ = std::numeric_limits<uint64_t>::max();
  uint64_t max_ = 0;
  double sum_ = 0;
  double sum_of_squares_ = 0;
};

}  // namespace pmlsm::bench
