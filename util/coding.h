// Little-endian fixed-width numbers and varints, as in doc/FORMAT.md. Reading past the end is refused, never
// done.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "pmlsm/slice.h"

namespace pmlsm {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "formats are stored as they lie in memory");

template <typename T>
inline T LoadFixed(const void* from) {
  T value;
  memcpy(&value, from, sizeof(value));
  return value;
}
template <typename T>
inline void StoreFixed(void* to, T value) {
  memcpy(to, &value, sizeof(value));
}
template <typename T>
inline void PutFixed(std::string* to, T value) {
  to->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

inline constexpr size_t kMaxVarint32Bytes = 5;

inline size_t VarintBytes(uint32_t value) {
  size_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

// Returns the byte after the number.
inline char* StoreVarint32(char* to, uint32_t value) {
  for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
  *to++ = static_cast<char>(value);
  return to;
}
inline void PutVarint32(std::string* to, uint32_t value) {
  char buffer[kMaxVarint32Bytes];
  to->append(buffer, StoreVarint32(buffer, value) - buffer);
}

// Returns the byte after the number, or null if [from, limit) does not start with one.
inline const char* LoadVarint32(const char* from, const char* limit, uint32_t* value) {
  uint64_t result = 0;
  for (int shift = 0; shift <= 28 && from < limit; shift += 7) {
    const uint8_t byte = static_cast<uint8_t>(*from++);
    result |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) {
      *value = static_cast<uint32_t>(result);
      return result <= UINT32_MAX ? from : nullptr;
    }
  }
  return nullptr;
}

// Take a value from the front of *input; false, and *input as it was, if it is not there whole.
inline bool GetVarint32(Slice* input, uint32_t* value) {
  const char* next = LoadVarint32(input->data(), input->end(), value);
  if (next == nullptr) return false;
  input->remove_prefix(next - input->data());
  return true;
}
template <typename T>
inline bool GetFixed(Slice* input, T* value) {
  if (input->size() < sizeof(T)) return false;
  *value = LoadFixed<T>(input->data());
  input->remove_prefix(sizeof(T));
  return true;
}
inline bool GetBytes(Slice* input, size_t bytes, Slice* value) {
  if (input->size() < bytes) return false;
  *value = Slice(input->data(), bytes);
  input->remove_prefix(bytes);
  return true;
}
inline bool GetLengthPrefixed(Slice* input, Slice* value) {
  const Slice before = *input;
  uint32_t bytes = 0;
  if (GetVarint32(input, &bytes) && GetBytes(input, bytes, value)) return true;
  *input = before;
  return false;
}
inline void PutLengthPrefixed(std::string* to, const Slice& value) {
  PutVarint32(to, static_cast<uint32_t>(value.size()));
  to->append(value.data(), value.size());
}

}  // namespace pmlsm
