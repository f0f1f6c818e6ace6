// Keys of the workloads: the bytes of key number n, a seeded permutation of numbers, and which were written.
#pragma once

#include <cstdint>
#include <string>

#include "pmlsm/slice.h"
#include "util/random.h"

namespace pmlsm::bench {

// The bytes of a key, as db_bench makes them: the number in 8 bytes, big-endian, then '0' up to key_bytes. A
// key shorter than 8 bytes holds the low bytes of the number.
//
// Thread safety: one thread at a time.
class KeyBuffer {
 public:
  explicit KeyBuffer(size_t key_bytes) : bytes_(key_bytes, '0') {}

  // Valid until the next call.
  Slice Set(uint64_t number);
  // The number in such a key.
  static uint64_t NumberOf(const Slice& key);

 private:
  std::string bytes_;
};

// A permutation of [0, count) that a seed picks: each number once, in an order that looks random, without a
// table.
//
// How: a bijection of [0, 2^k), the smallest such range that holds count numbers, made of odd multiplications
// and shifts; a result >= count is sent through it again (at most two rounds on average).
//
// Thread safety: immutable.
class Permutation {
 public:
  // count > 0.
  Permutation(uint64_t count, uint64_t seed);
  // index < count.
  uint64_t operator()(uint64_t index) const;

 private:
  uint64_t Mix(uint64_t x) const;

  const uint64_t count_;
  int shift_;
  uint64_t mask_;
  uint64_t offset_;
  uint64_t multiplier_[3];
};

// Which keys the last fill of this run wrote, so that reads can draw from them.
class WrittenKeys {
 public:
  // Nothing is known (a DB from before, or a fill with replacement): any of [0, num).
  static WrittenKeys AnyOf(uint64_t num) { return WrittenKeys(nullptr, num); }
  // 0 to count - 1.
  static WrittenKeys First(uint64_t count) { return WrittenKeys(nullptr, count); }
  // The first `count` of the order, which must outlive this.
  static WrittenKeys First(uint64_t count, const Permutation* order) { return WrittenKeys(order, count); }

  uint64_t Draw(Random* random) const {
    const uint64_t index = random->Uniform(count_);
    return order_ == nullptr ? index : (*order_)(index);
  }

 private:
  WrittenKeys(const Permutation* order, uint64_t count) : order_(order), count_(count) {}

  const Permutation* order_;
  uint64_t count_;
};

}  // namespace pmlsm::bench
