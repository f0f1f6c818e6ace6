#include "tools/bench/histogram.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <vector>

namespace pmlsm::bench {
namespace {

constexpr std::array<uint64_t, 20> MakePowersOfTen() {
  std::array<uint64_t, 20> powers{};
  uint64_t power = 1;
  for (uint64_t& p : powers) p = power, power *= 10;
  return powers;
}
constexpr std::array<uint64_t, 20> kPowersOfTen = MakePowersOfTen();

// The floor of log10(x); x > 0.
int FloorLog10(uint64_t x) {
  // 1233 / 4096 is a little over log10(2), so that this is right or one too many.
  const int guess = ((64 - __builtin_clzll(x)) * 1233) >> 12;
  return guess - (x < kPowersOfTen[guess] ? 1 : 0);
}

// Upper limits of the printed rows, in ns: below 1 us the same steps as above it; from there RocksDB's,
// each 1.5 times the one before, cut to two digits.
std::vector<double> RowLimits() {
  std::vector<double> limits = {50, 76, 110, 170, 250, 380, 580, 870, 1000, 2000};
  for (double micros = 3; micros < 1e13; micros *= 1.5) {
    uint64_t digits = static_cast<uint64_t>(micros), power = 1;
    while (digits / 10 > 10) digits /= 10, power *= 10;
    limits.push_back(static_cast<double>(digits * power) * 1000);
  }
  return limits;
}

std::string LimitInMicros(double nanos) {
  char text[32];
  const bool whole = nanos == 0 || nanos >= 1000;
  snprintf(text, sizeof(text), whole ? "%7.0f" : "%7.3f", nanos / 1000);
  return text;
}

}  // namespace

size_t Histogram::BucketOf(uint64_t nanos) {
  const uint64_t x = nanos == 0 ? 0 : nanos - 1;  // the limit itself belongs below
  if (x < kUnitBuckets) return x;
  const int log = FloorLog10(x);
  const uint64_t leading_two_digits = x / kPowersOfTen[log - 1];
  return kUnitBuckets + static_cast<size_t>(log - 2) * kDecadeBuckets + (leading_two_digits - 10);
}

double Histogram::UpperLimit(size_t bucket) {
  if (bucket < kUnitBuckets) return static_cast<double>(bucket + 1);
  const size_t decade = (bucket - kUnitBuckets) / kDecadeBuckets;
  const size_t leading_two_digits = (bucket - kUnitBuckets) % kDecadeBuckets + 10;
  return static_cast<double>(leading_two_digits + 1) * static_cast<double>(kPowersOfTen[decade + 1]);
}

void Histogram::Add(uint64_t nanos, uint64_t times) {
  buckets_[BucketOf(nanos)] += times;
  count_ += times;
  min_ = std::min(min_, nanos);
  max_ = std::max(max_, nanos);
  const double value = static_cast<double>(nanos);
  const double weight = static_cast<double>(times);
  sum_ += weight * value;
  sum_of_squares_ += weight * value * value;
}

void Histogram::Merge(const Histogram& other) {
  for (size_t i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
  sum_of_squares_ += other.sum_of_squares_;
}

double Histogram::Average() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

double Histogram::StandardDeviation() const {
  if (count_ == 0) return 0;
  const double average = Average();
  return std::sqrt(std::max(0.0, sum_of_squares_ / static_cast<double>(count_) - average * average));
}

double Histogram::Percentile(double percent) const {
  if (count_ == 0) return 0;
  const double wanted = static_cast<double>(count_) * percent / 100;
  double below = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    const double here = static_cast<double>(buckets_[i]);
    if (here == 0) continue;
    if (below + here >= wanted) {
      const double share = (wanted - below) / here;
      const double value = LowerLimit(i) + share * (UpperLimit(i) - LowerLimit(i));
      return std::clamp(value, static_cast<double>(min()), static_cast<double>(max()));
    }
    below += here;
  }
  return static_cast<double>(max_);
}

std::string Histogram::ToString() const {
  constexpr double kMicro = 1000;
  char text[512];
  snprintf(text, sizeof(text),
           "Count: %" PRIu64
           " Average: %.4f  StdDev: %.2f\n"
           "Min: %.4f  Median: %.4f  Max: %.2f\n"
           "Percentiles: P50: %.2f P75: %.2f P99: %.2f P99.9: %.2f P99.99: %.2f\n"
           "------------------------------------------------------\n",
           count_, Average() / kMicro, StandardDeviation() / kMicro, static_cast<double>(min()) / kMicro,
           Percentile(50) / kMicro, static_cast<double>(max()) / kMicro, Percentile(50) / kMicro,
           Percentile(75) / kMicro, Percentile(99) / kMicro, Percentile(99.9) / kMicro,
           Percentile(99.99) / kMicro);
  return text + Rows();
}

std::string Histogram::Rows() const {
  std::string text;
  double lower = 0;
  uint64_t below = 0;
  size_t bucket = 0;
  for (const double upper : RowLimits()) {
    uint64_t here = 0;
    while (bucket < kBuckets && UpperLimit(bucket) <= upper) here += buckets_[bucket++];
    if (here > 0) {
      below += here;
      const double percent = 100.0 * static_cast<double>(here) / static_cast<double>(count_);
      const double percent_so_far = 100.0 * static_cast<double>(below) / static_cast<double>(count_);
      char row[128];
      snprintf(row, sizeof(row), "%c %s, %s ] %8" PRIu64 " %7.3f%% %7.3f%% ", lower == 0 ? '[' : '(',
               LimitInMicros(lower).c_str(), LimitInMicros(upper).c_str(), here, percent, percent_so_far);
      text += row;
      text.append(static_cast<size_t>(percent / 5 + 0.5), '#');  // a mark for each 5 %
      text += '\n';
    }
    lower = upper;
  }
  return text;
}

}  // namespace pmlsm::bench
