// DropRules: which entries of a merged stream are still needed.
//
// Entries are offered in internal order. An entry is dropped when
// 1. it is shadowed: a newer version of its key is visible to every snapshot (and to the live state) that
// could see
//    it: both lie in the same interval between neighbouring snapshots; or
// 2. it is a tombstone that no snapshot below it needs to see past: it is visible to the oldest snapshot, and
// nothing
//    older than the merge's inputs can hold its key.
//
// Thread safety: one thread at a time.
#pragma once

#include <functional>
#include <vector>

#include "pmlsm/comparator.h"
#include "util/internal_key.h"

namespace pmlsm {

class DropRules {
 public:
  // `snapshots`: sequence numbers, ascending. `held_below(key)`: whether a run older than all inputs may hold
  // key.
  DropRules(const Comparator* comparator, std::vector<SequenceNumber> snapshots,
            std::function<bool(const Slice&)> held_below);

  // Whether the entry can go. The entry's key must stay readable until the next call.
  bool Drop(const Entry& entry);

  uint64_t shadowed() const { return shadowed_; }

 private:
  // Index of the first snapshot that sees `sequence`; snapshots_.size() if only the live state does.
  size_t Interval(SequenceNumber sequence) const;

  const Comparator* const comparator_;
  const std::vector<SequenceNumber> snapshots_;
  const std::function<bool(const Slice&)> held_below_;
  bool has_key_ = false;
  Slice key_;            // of the entry before
  size_t interval_ = 0;  // of the newest version of key_ that was offered last
  uint64_t shadowed_ = 0;
};

}  // namespace pmlsm
