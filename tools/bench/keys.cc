#include "tools/bench/keys.h"

#include <algorithm>

namespace pmlsm::bench {

Slice KeyBuffer::Set(uint64_t number) {
  const size_t number_bytes = std::min<size_t>(bytes_.size(), 8);
  for (size_t i = 0; i < number_bytes; ++i)
    bytes_[i] = static_cast<char>(number >> (8 * (number_bytes - 1 - i)));
  return bytes_;
}

uint64_t KeyBuffer::NumberOf(const Slice& key) {
  uint64_t number = 0;
  for (size_t i = 0; i < std::min<size_t>(key.size(), 8); ++i)
    number = number << 8 | static_cast<unsigned char>(key[i]);
  return number;
}

Permutation::Permutation(uint64_t count, uint64_t seed) : count_(count) {
  int bits = 2;
  while (bits < 64 && (count - 1) >> bits != 0) ++bits;
  mask_ = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  shift_ = (bits + 1) / 2;
  Random random(seed);
  offset_ = random.Next();
  for (uint64_t& multiplier : multiplier_) multiplier = random.Next() | 1;
}

// Each step can be undone within `mask_`: adding, multiplying by an odd number, and xor with the upper half.
uint64_t Permutation::Mix(uint64_t x) const {
  x = (x + offset_) & mask_;
  for (const uint64_t multiplier : multiplier_) {
    x = (x * multiplier) & mask_;
    x ^= x >> shift_;
  }
  return x;
}

uint64_t Permutation::operator()(uint64_t index) const {
  uint64_t x = index;
  do {
    x = Mix(x);
  } while (x >= count_);
  return x;
}

}  // namespace pmlsm::bench
