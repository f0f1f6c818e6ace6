// Iterator: walks the user keys of one read view in the comparator's order, both ways.
//
// Thread safety: one thread at a time. It sees the DB as it was when it was made (or its
// ReadOptions::snapshot) and pins that view: delete it before Close. key() and value() point into the view
// and stay valid until the next call that moves the iterator.
#pragma once

#include "pmlsm/export.h"
#include "pmlsm/slice.h"
#include "pmlsm/status.h"

namespace pmlsm {

class PMLSM_EXPORT Iterator {
 public:
  Iterator() = default;
  virtual ~Iterator() = default;
  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;

  // False at either end, outside the bounds, and after an error: look at status() when a walk ends.
  virtual bool Valid() const = 0;

  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  // The first key >= target. A target below the lower bound is clamped to it.
  virtual void Seek(const Slice& target) = 0;
  // The last key <= target. A target at or above the upper bound is clamped to just below it.
  virtual void SeekForPrev(const Slice& target) = 0;

  // REQUIRES: Valid(). An iterator that ran off its range can be placed again with any Seek.
  virtual void Next() = 0;
  virtual void Prev() = 0;
  virtual Slice key() const = 0;
  virtual Slice value() const = 0;

  virtual Status status() const = 0;
};

}  // namespace pmlsm
