// Comparator: a total order of user keys.
//
// Thread safety: all methods are called from several threads at once. The object must outlive the DB. Its
// name is stored in the DB and checked at every open: an order that changes must change its name.
#pragma once

#include <string>

#include "pmlsm/export.h"
#include "pmlsm/slice.h"

namespace pmlsm {

class PMLSM_EXPORT Comparator {
 public:
  virtual ~Comparator() = default;

  // At most 63 bytes. Names that start with "pmlsm." are ours.
  virtual const char* Name() const = 0;

  // < 0 if a sorts before b, 0 if they are the same key, > 0 otherwise. Keys that compare equal must be equal
  // byte by byte (filters and fingerprints hash the bytes).
  virtual int Compare(const Slice& a, const Slice& b) const = 0;

  virtual bool Equal(const Slice& a, const Slice& b) const { return Compare(a, b) == 0; }

  // If *start < limit, may change *start to a shorter key in [*start, limit). Doing nothing is right, only
  // larger.
  virtual void FindShortestSeparator(std::string* start, const Slice& limit) const {}
  // May change *key to a shorter key >= *key.
  virtual void FindShortSuccessor(std::string* key) const {}
};

// Unsigned bytes, shorter first; and the same turned round. Both live for ever.
PMLSM_EXPORT const Comparator* BytewiseComparator();
PMLSM_EXPORT const Comparator* ReverseBytewiseComparator();

}  // namespace pmlsm
