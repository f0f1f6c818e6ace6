// Hashes and checksums: XXH3 (xxHash), 64 bits. The algorithm and the seeds are part of the format.
#pragma once

#include <cstdint>

#include "pmlsm/slice.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace pmlsm {

inline uint64_t Hash64(const void* data, size_t bytes, uint64_t seed = 0) {
  return XXH3_64bits_withSeed(data, bytes, seed);
}

// The hash of a user key that filters, fingerprints and hash memtables share.
inline uint64_t KeyHash(const Slice& key) { return XXH3_64bits(key.data(), key.size()); }

inline uint32_t Checksum32(const void* data, size_t bytes, uint64_t seed = 0) {
  const uint64_t hash = Hash64(data, bytes, seed);
  return static_cast<uint32_t>(hash ^ (hash >> 32));
}

}  // namespace pmlsm
