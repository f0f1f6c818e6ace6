// Filter: a blocked Bloom filter over user keys; all bits of a key lie in one 64 B line (doc/FORMAT.md,
// "Filter").
//
// Thread safety: a Filter is immutable; a FilterBuilder belongs to one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "levels/region.h"
#include "util/prefetch.h"

namespace pmlsm {

// A line: kFilterLineBits bits, then the Seal of the bytes before it (seed: TableSeed + place), 4 bytes.
inline constexpr uint64_t kFilterBitBytes = 60;
inline constexpr uint64_t kFilterLineBits = kFilterBitBytes * 8;
static_assert(kFilterBitBytes + sizeof(uint32_t) == kLineBytes);

// More probes fill a line faster than they tell keys apart.
inline constexpr uint32_t kFilterProbesMax = 16;

class Filter {
 public:
  Filter() = default;
  // `region` holds the filter only; an empty one says "maybe" to all.
  Filter(const Region& region, uint32_t probes)
      : lines_start_(region.start + region.begin),
        lines_((region.end - region.begin) / kLineBytes),
        place_(region.begin),
        seed_(region.seed),
        probes_(probes) {}

  void Prefetch(uint64_t key_hash) const {
    if (lines_ != 0) PrefetchLine(lines_start_ + Line(key_hash) * kLineBytes);
  }
  // False: no such key. *damaged: the line fails its check, so the answer is true.
  bool MayContain(uint64_t key_hash, bool* damaged) const;
  // Every line against its checksum.
  Damage Check() const;
  // Calls report(Damage) for each line that fails its checksum.
  template <typename Report>
  void FindDamage(const Report& report) const {
    for (uint64_t line = 0; line < lines_; ++line) {
      if (!Verify(line)) report(Damage{"filter line's checksum", place_ + line * kLineBytes});
    }
  }

 private:
  uint64_t Line(uint64_t key_hash) const { return (static_cast<unsigned __int128>(key_hash) * lines_) >> 64; }
  bool Verify(uint64_t line) const;

  const char* lines_start_ = nullptr;
  uint64_t lines_ = 0;
  uint64_t place_ = 0;
  uint64_t seed_ = 0;
  uint32_t probes_ = 0;
};

class FilterBuilder {
 public:
  explicit FilterBuilder(int bits_per_key) : bits_per_key_(bits_per_key) {}

  void Add(uint64_t key_hash) {
    if (bits_per_key_ > 0) hashes_.push_back(key_hash);
  }
  uint64_t keys() const { return hashes_.size(); }
  uint32_t probes() const;

  // Bytes of a filter of that many keys.
  static uint64_t Bytes(int bits_per_key, uint64_t keys) {
    return bits_per_key == 0 ? 0 : (keys * bits_per_key + kFilterLineBits - 1) / kFilterLineBits * kLineBytes;
  }
  // Appends the filter, which will lie at `place`.
  void Finish(uint64_t place, uint64_t seed, std::string* to) const;

 private:
  const int bits_per_key_;
  std::vector<uint64_t> hashes_;
};

}  // namespace pmlsm
