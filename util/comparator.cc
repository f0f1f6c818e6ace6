#include "pmlsm/comparator.h"

#include <algorithm>
#include <cstdint>

namespace pmlsm {
namespace {

class Bytewise final : public Comparator {
 public:
  const char* Name() const override { return "pmlsm.BytewiseComparator"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  bool Equal(const Slice& a, const Slice& b) const override { return a == b; }

  // Cuts *start after the first byte that differs, raised by one, where that stays below limit.
  void FindShortestSeparator(std::string* start, const Slice& limit) const override {
    const size_t common_max = std::min(start->size(), limit.size());
    size_t differs = 0;
    while (differs < common_max && (*start)[differs] == limit[differs]) ++differs;
    if (differs == common_max) return;  // one is a prefix of the other
    const uint8_t byte = static_cast<uint8_t>((*start)[differs]);
    if (byte == 0xff || byte + 1 >= static_cast<uint8_t>(limit[differs])) return;
    (*start)[differs] = static_cast<char>(byte + 1);
    start->resize(differs + 1);
  }

  void FindShortSuccessor(std::string* key) const override {
    for (size_t i = 0; i < key->size(); ++i) {
      const uint8_t byte = static_cast<uint8_t>((*key)[i]);
      if (byte == 0xff) continue;
      (*key)[i] = static_cast<char>(byte + 1);
      key->resize(i + 1);
      return;
    }
  }
};

class ReverseBytewise final : public Comparator {
 public:
  const char* Name() const override { return "pmlsm.ReverseBytewiseComparator"; }
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  bool Equal(const Slice& a, const Slice& b) const override { return a == b; }
};

}  // namespace

const Comparator* BytewiseComparator() {
  static const Bytewise* const comparator = new Bytewise;
  return comparator;
}

const Comparator* ReverseBytewiseComparator() {
  static const ReverseBytewise* const comparator = new ReverseBytewise;
  return comparator;
}

}  // namespace pmlsm
