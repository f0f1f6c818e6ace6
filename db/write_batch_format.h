// The bytes of a write batch (doc/FORMAT.md, "Write batch"), in memory and in the log:
//
//   batch  := sequence (fixed 8, set when written) count (fixed 4) record*
//   record := type (1 byte, ValueType) family (varint32) body
//   body of kValue    := key (length-prefixed) value (length-prefixed)
//   body of kDeletion, kSingleDeletion := key (length-prefixed)
//
// `count` is the number of records. The log stores the records without the 12 header bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "pmlsm/status.h"
#include "pmlsm/types.h"
#include "util/coding.h"
#include "util/internal_key.h"

namespace pmlsm {

inline constexpr size_t kBatchHeaderBytes = 12;
inline constexpr size_t kBatchCountPlace = 8;
inline constexpr uint32_t kDefaultFamily = 0;

struct BatchRecord {
  ValueType type;
  uint32_t family;
  Slice key;
  Slice value;
};

// Takes one record from the front of *records. Corruption if it is damaged; NotSupported for a type that is
// known but not built.
inline Status TakeBatchRecord(Slice* records, BatchRecord* record) {
  uint8_t type = 0;
  if (!GetFixed(records, &type) || type > kValueTypeMax)
    return Status::Corruption("write batch", "record type");
  record->type = static_cast<ValueType>(type);
  if (record->type != ValueType::kValue && !IsDeletion(record->type)) {
    return Status::NotSupported("write batch record type " + std::to_string(type));
  }
  if (!GetVarint32(records, &record->family)) return Status::Corruption("write batch", "family");
  if (!GetLengthPrefixed(records, &record->key)) return Status::Corruption("write batch", "key");
  record->value.clear();
  if (record->type == ValueType::kValue && !GetLengthPrefixed(records, &record->value)) {
    return Status::Corruption("write batch", "value");
  }
  return Status::OK();
}

// The limits of types.h; InvalidArgument names the size and the limit.
inline Status CheckKeyBytes(const Slice& key) {
  if (key.size() <= kMaxKeyBytes) return Status::OK();
  return Status::InvalidArgument("key of " + std::to_string(key.size()) + " bytes",
                                 "must have 0 to " + std::to_string(kMaxKeyBytes));
}
inline Status CheckValueBytes(const Slice& value) {
  if (value.size() <= kMaxValueBytes) return Status::OK();
  return Status::InvalidArgument("value of " + std::to_string(value.size()) + " bytes",
                                 "must have 0 to " + std::to_string(kMaxValueBytes));
}

// A record's size, and its bytes at `to`, which must have room; returns the byte after it.
inline size_t BatchRecordBytes(ValueType type, uint32_t family, const Slice& key, const Slice& value) {
  size_t bytes = 1 + VarintBytes(family) + VarintBytes(key.size()) + key.size();
  if (type == ValueType::kValue) bytes += VarintBytes(value.size()) + value.size();
  return bytes;
}
inline char* StoreBatchRecord(char* to, ValueType type, uint32_t family, const Slice& key,
                              const Slice& value) {
  const auto append = [&to](const Slice& bytes) {
    to = StoreVarint32(to, static_cast<uint32_t>(bytes.size()));
    if (!bytes.empty()) memcpy(to, bytes.data(), bytes.size());  // an empty slice's data may be null
    to += bytes.size();
  };
  *to++ = static_cast<char>(type);
  to = StoreVarint32(to, family);
  append(key);
  if (type == ValueType::kValue) append(value);
  return to;
}

}  // namespace pmlsm
