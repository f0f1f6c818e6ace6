#include "levels/filter.h"

#include <algorithm>

#include "util/coding.h"

namespace pmlsm {
namespace {

// The bits of a key in its line, one after the other. The line was chosen by the hash's high bits, so these
// come from the low ones.
class Probe {
 public:
  explicit Probe(uint64_t key_hash) : state_(static_cast<uint32_t>(key_hash) | 1) {}
  uint32_t Next() {
    state_ *= 0x9e3779b9u;
    return static_cast<uint32_t>((uint64_t{state_} * kFilterLineBits) >> 32);
  }

 private:
  uint32_t state_;
};

}  // namespace

bool Filter::Verify(uint64_t line) const {
  const char* const data = lines_start_ + line * kLineBytes;
  return Seal(data, kFilterBitBytes, seed_ + place_ + line * kLineBytes) ==
         LoadFixed<uint32_t>(data + kFilterBitBytes);
}

bool Filter::MayContain(uint64_t key_hash, bool* damaged) const {
  *damaged = false;
  if (lines_ == 0) return true;
  const uint64_t line = Line(key_hash);
  const char* const data = lines_start_ + line * kLineBytes;
  Probe probe(key_hash);
  for (uint32_t i = 0; i < probes_; ++i) {
    const uint32_t bit = probe.Next();
    if ((data[bit / 8] >> (bit % 8) & 1) != 0) continue;
    // Only a "no" can do harm, so only a "no" is verified.
    if (Verify(line)) return false;
    *damaged = true;
    return true;
  }
  return true;
}

Damage Filter::Check() const {
  for (uint64_t line = 0; line < lines_; ++line) {
    if (!Verify(line)) return {"filter line's checksum", place_ + line * kLineBytes};
  }
  return {};
}

uint32_t FilterBuilder::probes() const {
  // ln 2 bits a key, one less than in a filter of one block: lines fill unevenly.
  const uint32_t best = static_cast<uint32_t>(bits_per_key_ * 0.69);
  return std::clamp(best, 1u, kFilterProbesMax);
}

void FilterBuilder::Finish(uint64_t place, uint64_t seed, std::string* to) const {
  const size_t start = to->size();
  const uint64_t bytes = Bytes(bits_per_key_, hashes_.size());
  const uint64_t lines = bytes / kLineBytes;
  to->resize(start + bytes, 0);
  char* const data = &(*to)[start];
  const uint32_t probes_count = probes();
  for (const uint64_t hash : hashes_) {
    const uint64_t line = (static_cast<unsigned __int128>(hash) * lines) >> 64;
    Probe probe(hash);
    for (uint32_t i = 0; i < probes_count; ++i) {
      const uint32_t bit = probe.Next();
      data[line * kLineBytes + bit / 8] |= static_cast<char>(1 << (bit % 8));
    }
  }
  for (uint64_t line = 0; line < lines; ++line) {
    char* const at = data + line * kLineBytes;
    StoreFixed(at + kFilterBitBytes, Seal(at, kFilterBitBytes, seed + place + line * kLineBytes));
  }
}

}  // namespace pmlsm
