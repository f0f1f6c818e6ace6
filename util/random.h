// Random: xorshift64* numbers from a seed. Not for secrets. One thread at a time.
#pragma once

#include <cstdint>

namespace pmlsm {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 0x1234567) {
    if (state_ == 0) state_ = 1;
  }
  uint64_t Next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1dull;
  }
  // In [0, n); n > 0.
  uint64_t Uniform(uint64_t n) { return Next() % n; }
  bool OneIn(uint64_t n) { return Uniform(n) == 0; }

 private:
  uint64_t state_;
};

}  // namespace pmlsm
