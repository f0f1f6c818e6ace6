// SnapshotList: the live snapshots of a DB, oldest first.
//
// Thread safety: none; under the DB's mutex.
#pragma once

#include <iterator>
#include <list>
#include <vector>

#include "pmlsm/snapshot.h"

namespace pmlsm {

class SnapshotList {
 public:
  const Snapshot* New(SequenceNumber sequence) {
    snapshots_.emplace_back(sequence);
    snapshots_.back().place = std::prev(snapshots_.end());
    return &snapshots_.back();
  }
  void Delete(const Snapshot* snapshot) { snapshots_.erase(static_cast<const Held*>(snapshot)->place); }

  bool empty() const { return snapshots_.empty(); }
  size_t size() const { return snapshots_.size(); }
  // kMaxSequenceNumber if there is none.
  SequenceNumber Oldest() const { return empty() ? kMaxSequenceNumber : snapshots_.front().sequence; }
  // Ascending, each once.
  std::vector<SequenceNumber> Sequences() const {
    std::vector<SequenceNumber> sequences;
    for (const Held& held : snapshots_) {
      if (sequences.empty() || sequences.back() != held.sequence) sequences.push_back(held.sequence);
    }
    return sequences;
  }
  // `sequences`: what Sequences() gave before.
  bool AnyNewerThan(const std::vector<SequenceNumber>& sequences) const {
    return !empty() && (sequences.empty() || snapshots_.back().sequence > sequences.back());
  }

 private:
  struct Held final : Snapshot {
    explicit Held(SequenceNumber sequence) : sequence(sequence) {}
    SequenceNumber GetSequenceNumber() const override { return sequence; }
    const SequenceNumber sequence;
    std::list<Held>::iterator place;
  };
  std::list<Held> snapshots_;
};

}  // namespace pmlsm
