// MemEntry: one version of a key as it lies in the memtable's arena, never changed once it is published.
//
//   tag u64 | key bytes u32 | value bytes u32 | key | value
#pragma once

#include <cstdint>
#include <cstring>

#include "util/internal_key.h"

namespace pmlsm {

struct MemEntry {
  Tag tag;
  uint32_t key_bytes;
  uint32_t value_bytes;

  const char* key_data() const { return reinterpret_cast<const char*>(this + 1); }
  Slice key() const { return Slice(key_data(), key_bytes); }
  Slice value() const { return Slice(key_data() + key_bytes, value_bytes); }
  Entry ToEntry() const { return Entry{key(), tag, value()}; }

  static size_t Bytes(const Slice& key, const Slice& value) {
    return sizeof(MemEntry) + key.size() + value.size();
  }

  // Writes Bytes(key, value) bytes at `to`, aligned to 8.
  static MemEntry* Encode(char* to, const Slice& key, Tag tag, const Slice& value) {
    MemEntry* const entry = reinterpret_cast<MemEntry*>(to);
    entry->tag = tag;
    entry->key_bytes = static_cast<uint32_t>(key.size());
    entry->value_bytes = static_cast<uint32_t>(value.size());
    char* const bytes = to + sizeof(MemEntry);
    if (!key.empty()) memcpy(bytes, key.data(), key.size());  // an empty slice's data may be null
    if (!value.empty()) memcpy(bytes + key.size(), value.data(), value.size());
    return entry;
  }
};
static_assert(sizeof(MemEntry) == 16 && alignof(MemEntry) == 8);

}  // namespace pmlsm
