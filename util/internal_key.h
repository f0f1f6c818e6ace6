// Internal keys: what orders the versions of a user key.
//
// An entry of a memtable or table is (user key, sequence number, type, value). Entries are sorted by user key
// (ascending, the comparator's order), then by sequence number (descending), so that the newest version comes
// first. Sequence number and type travel as one word, the tag: (sequence << 8) | type. See doc/FORMAT.md,
// "Tag".
#pragma once

#include <cstdint>

#include "pmlsm/comparator.h"
#include "pmlsm/slice.h"
#include "pmlsm/types.h"

namespace pmlsm {

// Record types of batches, the log and tables. The numbers are part of the format; the engine answers
// NotSupported to those that it cannot apply.
enum class ValueType : uint8_t {
  kDeletion = 0,
  kValue = 1,
  kMerge = 2,
  kSingleDeletion = 3,
  kRangeDeletion = 4,
  kEntity = 5,
  kPrepare = 6,
  kCommit = 7,
  kRollback = 8,
};
inline constexpr uint8_t kValueTypeMax = 8;

// Of one key: whether it ends what a reader sees with nothing.
inline constexpr bool IsDeletion(ValueType type) {
  return type == ValueType::kDeletion || type == ValueType::kSingleDeletion;
}

inline constexpr SequenceNumber kMaxSequenceNumber = (SequenceNumber{1} << 56) - 1;

using Tag = uint64_t;
inline constexpr Tag MakeTag(SequenceNumber sequence, ValueType type) {
  return (sequence << 8) | static_cast<uint8_t>(type);
}
inline constexpr SequenceNumber TagSequence(Tag tag) { return tag >> 8; }
inline constexpr ValueType TagType(Tag tag) { return static_cast<ValueType>(tag & 0xff); }
// The tag that sorts before (or at) every version of a user key that a read at `sequence` may see.
inline constexpr Tag SeekTag(SequenceNumber sequence) { return (sequence << 8) | 0xff; }
inline constexpr Tag kMaxTag = ~Tag{0};

// One version of a key, by reference.
struct Entry {
  Slice key;  // user key
  Tag tag = 0;
  Slice value;
};

// < 0 if (a, a_tag) comes before (b, b_tag).
inline int CompareInternal(const Comparator& comparator, const Slice& a, Tag a_tag, const Slice& b,
                           Tag b_tag) {
  const int order = comparator.Compare(a, b);
  if (order != 0) return order;
  return a_tag > b_tag ? -1 : a_tag < b_tag;
}

}  // namespace pmlsm
