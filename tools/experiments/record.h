// Record: an entry of the experiments, of the paper's size: a key of 8 bytes and a value of 16.
#pragma once

#include <cstdint>
#include <vector>

#include "util/internal_key.h"

namespace pmlsm::experiments {

struct Record {
  char key[8];  // big-endian, so that bytewise order is the numbers'
  char value[16];
  Tag tag;

  Record(uint64_t key_number, SequenceNumber sequence) : tag(MakeTag(sequence, ValueType::kValue)) {
    for (int i = 0; i < 8; ++i) {
      key[i] = static_cast<char>(key_number >> (56 - 8 * i));
      value[i] = static_cast<char>((key_number * 0x9e3779b97f4a7c15ull) >> (8 * i));
      value[8 + i] = static_cast<char>(sequence >> (8 * i));
    }
  }
  Entry ref() const { return Entry{Slice(key, sizeof(key)), tag, Slice(value, sizeof(value))}; }
};
inline constexpr uint64_t kRecordBytes = sizeof(Record::key) + sizeof(Record::value);

using Records = std::vector<Record>;

}  // namespace pmlsm::experiments
