// InternalIterator: walks entries (all versions, tombstones included) of a memtable, a table, a run, or a
// merge.
//
// Contract, kept by every implementation:
// 1. The head entry is cached in the base class, so that a merge compares heads without a virtual call. An
//    implementation sets entry_ and valid_ in each move; entry()'s slices stay valid until the next move.
// 2. Seek(key, tag) places at the first entry >= (key, tag) in internal order; SeekForPrev at the last entry
// <= it.
// 3. Next and Prev REQUIRE valid(). A forward-only source (a merge input) answers to Seek*, Prev with a
// CHECK.
// 4. An error makes it invalid and sticks in status() until the next Seek*. Never an early end with an OK
// status.
// 5. PrepareSeek starts loading what Seek of that key will look at first, so that the cache misses of many sources
// overlap. The Seek of that very key, with whatever tag, is then the next move.
//
// Thread safety: one thread at a time.
#pragma once

#include "pmlsm/status.h"
#include "util/internal_key.h"

namespace pmlsm {

class InternalIterator {
 public:
  InternalIterator() = default;
  virtual ~InternalIterator() = default;
  InternalIterator(const InternalIterator&) = delete;
  InternalIterator& operator=(const InternalIterator&) = delete;

  bool valid() const { return valid_; }
  const Entry& entry() const { return entry_; }

  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;
  virtual void PrepareSeek(const Slice& key) { static_cast<void>(key); }
  virtual void Seek(const Slice& key, Tag tag) = 0;
  virtual void SeekForPrev(const Slice& key, Tag tag) = 0;
  virtual void Next() = 0;
  virtual void Prev() = 0;
  virtual Status status() const = 0;

 protected:
  Entry entry_;
  bool valid_ = false;
};

}  // namespace pmlsm
