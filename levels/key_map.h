// KeyMap: where each user key of a table lies, by its hash; in DRAM. A lookup that is in vain, or that finds its key,
// looks at one cache line of it, nearly always.
//
// A line has room for 12 keys: 16 bits of the hash and a place of 24 bits for each. Lines are filled to three quarters
// on average. A key that finds its line full goes to the next one, and leaves one of 32 bits, chosen by its hash, in
// each line that it passes: who looks for a key goes on only where that key's bit is set.
//
// What is not found is not there. What is found may be another key, whose line and 16 bits are the same: the caller
// compares the keys.
//
// Thread safety: const methods from any thread, once all keys are in.
#pragma once

#include <emmintrin.h>

#include <cstdint>
#include <cstring>
#include <memory>

#include "util/prefetch.h"

namespace pmlsm {

class KeyMap {
 public:
  static constexpr uint32_t kPlaceEnd = 1u << 24;

  // For up to so many keys.
  explicit KeyMap(uint64_t keys);

  static uint64_t BytesFor(uint64_t keys) { return LinesFor(keys) * sizeof(Line); }

  // REQUIRES: it holds fewer keys than it was made for; 0 < place < kPlaceEnd.
  void Insert(uint64_t key_hash, uint32_t place);

  void Prefetch(uint64_t key_hash) const { PrefetchLine(&lines_[Home(key_hash)]); }

  // Calls visit(place) for each key that may be the one of that hash, until it returns true. Returns whether it did.
  template <typename Visit>
  bool Find(uint64_t key_hash, const Visit& visit) const;

 private:
  static constexpr uint32_t kKeysALine = 12;
  static constexpr uint32_t kMeanKeysALine = 9;

  struct alignas(64) Line {
    uint16_t tags[kKeysALine];  // 0: free
    uint8_t places[3 * kKeysALine];
    uint32_t passed_by;
  };
  static_assert(sizeof(Line) == 64);

  static uint64_t LinesFor(uint64_t keys) { return keys / kMeanKeysALine + 1; }
  static uint16_t TagOf(uint64_t key_hash) {
    const auto tag = static_cast<uint16_t>(key_hash);
    return tag == 0 ? 1 : tag;
  }
  static uint32_t PassedBit(uint64_t key_hash) { return 1u << (key_hash >> 16 & 31); }

  uint64_t Home(uint64_t key_hash) const { return (key_hash >> 32) * line_count_ >> 32; }
  uint64_t After(uint64_t line) const { return line + 1 == line_count_ ? 0 : line + 1; }

  static uint32_t PlaceAt(const Line& line, uint32_t i) {
    // The last place is followed by passed_by: four bytes can be read.
    uint32_t word;
    memcpy(&word, line.places + 3 * i, sizeof(word));
    return word & (kPlaceEnd - 1);
  }
  // Bit i: tag i is that one.
  static uint32_t Matches(const Line& line, uint16_t tag) {
    const __m128i wanted = _mm_set1_epi16(static_cast<int16_t>(tag));
    const __m128i first = _mm_load_si128(reinterpret_cast<const __m128i*>(line.tags));
    const __m128i last = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(line.tags + 8));
    const __m128i equal = _mm_packs_epi16(_mm_cmpeq_epi16(first, wanted), _mm_cmpeq_epi16(last, wanted));
    return static_cast<uint32_t>(_mm_movemask_epi8(equal)) & ((1u << kKeysALine) - 1);
  }

  uint64_t line_count_;
  std::unique_ptr<Line[]> lines_;
};

template <typename Visit>
bool KeyMap::Find(uint64_t key_hash, const Visit& visit) const {
  const uint16_t tag = TagOf(key_hash);
  uint64_t at = Home(key_hash);
  for (uint64_t looked_at = 0; looked_at < line_count_; ++looked_at, at = After(at)) {
    const Line& line = lines_[at];
    for (uint32_t matches = Matches(line, tag); matches != 0; matches &= matches - 1) {
      if (visit(PlaceAt(line, __builtin_ctz(matches)))) return true;
    }
    if ((line.passed_by & PassedBit(key_hash)) == 0) return false;
  }
  return false;
}

}  // namespace pmlsm
