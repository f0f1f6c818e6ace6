// KeyOrder: a comparator, with eight bytes of a key as a number that mostly decides without it.
//
// Thread safety: immutable.
//
// 1. For keys that share their first `skip` bytes: a before b => Word(a, skip) <= Word(b, skip). Equal words
//    decide nothing.
// 2. A comparator that is not one of the two bytewise ones has Word = 0 for every key and common prefixes of
//    0 bytes.
#pragma once

#include <cstdint>
#include <cstring>

#include "memtable/entry.h"
#include "pmlsm/comparator.h"

namespace pmlsm {

class KeyOrder {
 public:
  explicit KeyOrder(const Comparator* comparator)
      : comparator_(comparator),
        kind_(comparator == BytewiseComparator()          ? Kind::kBytewise
              : comparator == ReverseBytewiseComparator() ? Kind::kReverse
                                                          : Kind::kOther),
        flip_(kind_ == Kind::kReverse ? ~uint64_t{0} : 0),
        mask_(kind_ == Kind::kOther ? 0 : ~uint64_t{0}) {}

  // Bytes [skip, skip + 8) of the key, zeros after its end, big-endian, turned round for the reverse order.
  uint64_t Word(const Slice& key, size_t skip) const {
    uint64_t bytes = 0;
    if (key.size() >= skip + sizeof(bytes)) {
      memcpy(&bytes, key.data() + skip, sizeof(bytes));
    } else if (key.size() > skip) {
      memcpy(&bytes, key.data() + skip, key.size() - skip);
    }
    return (__builtin_bswap64(bytes) ^ flip_) & mask_;
  }

  // The same for keys of any kind, in a place where most start with prefix: what comes before or after all
  // keys that do gets the lowest or the highest word.
  uint64_t ClampedWord(const Slice& key, const Slice& prefix) const {
    const size_t common = key.size() < prefix.size() ? key.size() : prefix.size();
    const int order = memcmp(key.data(), prefix.data(), common);
    if (order == 0 && common == prefix.size()) return Word(key, prefix.size());
    return ((order > 0 ? ~uint64_t{0} : 0) ^ flip_) & mask_;
  }

  // Bytes that every key between a and b starts with.
  size_t CommonPrefixBytes(const Slice& a, const Slice& b) const {
    if (kind_ == Kind::kOther) return 0;
    const size_t limit = a.size() < b.size() ? a.size() : b.size();
    size_t common = 0;
    while (common < limit && a[common] == b[common]) ++common;
    return common;
  }

  // Internal order: key, then newest first.
  int Compare(const Slice& a, Tag a_tag, const Slice& b, Tag b_tag) const {
    const int order = CompareKeys(a, b);
    if (order != 0) return order;
    return a_tag > b_tag ? -1 : a_tag < b_tag;
  }
  int Compare(const MemEntry& a, const MemEntry& b) const { return Compare(a.key(), a.tag, b.key(), b.tag); }

 private:
  enum class Kind : uint8_t { kBytewise, kReverse, kOther };

  int CompareKeys(const Slice& a, const Slice& b) const {
    switch (kind_) {
      case Kind::kBytewise:
        return a.compare(b);
      case Kind::kReverse:
        return b.compare(a);
      case Kind::kOther:
        break;
    }
    return comparator_->Compare(a, b);
  }

  const Comparator* const comparator_;
  const Kind kind_;
  const uint64_t flip_;
  const uint64_t mask_;
};

}  // namespace pmlsm
