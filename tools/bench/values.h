// Values of the workloads: bytes that compress to about half, as db_bench's; the first ones name the key.
//
// Thread safety: one thread at a time; each thread has its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "pmlsm/slice.h"
#include "util/random.h"

namespace pmlsm::bench {

class ValueGenerator {
 public:
  ValueGenerator(size_t value_bytes, Random* random);

  // A value for that key; valid until the next call.
  Slice Next(uint64_t key_number) {
    if (position_ + value_bytes_ > bytes_.size()) position_ = 0;
    char* const value = bytes_.data() + position_;
    position_ += value_bytes_;
    memcpy(value, &key_number, std::min(value_bytes_, sizeof(key_number)));
    return Slice(value, value_bytes_);
  }

  // Whether these can be the bytes of a value that Next made for that key.
  static bool BelongsTo(const Slice& value, uint64_t key_number, size_t value_bytes) {
    return value.size() == value_bytes &&
           memcmp(value.data(), &key_number, std::min(value_bytes, sizeof(key_number))) == 0;
  }

 private:
  const size_t value_bytes_;
  std::string bytes_;
  size_t position_ = 0;
};

}  // namespace pmlsm::bench
