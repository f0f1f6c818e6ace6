#include "compaction/drop_rules.h"

#include <algorithm>
#include <utility>

namespace pmlsm {

DropRules::DropRules(const Comparator* comparator, std::vector<SequenceNumber> snapshots,
                     std::function<bool(const Slice&)> held_below)
    : comparator_(comparator), snapshots_(std::move(snapshots)), held_below_(std::move(held_below)) {}

size_t DropRules::Interval(SequenceNumber sequence) const {
  return std::lower_bound(snapshots_.begin(), snapshots_.end(), sequence) - snapshots_.begin();
}

bool DropRules::Drop(const Entry& entry) {
  const size_t interval = Interval(TagSequence(entry.tag));
  const bool same_key = has_key_ && comparator_->Equal(entry.key, key_);
  const bool shadowed = same_key && interval == interval_;
  has_key_ = true;
  key_ = entry.key;
  interval_ = interval;
  if (shadowed) {
    ++shadowed_;
    return true;
  }
  // Older versions of the key in the inputs fall to rule 1: they lie in the same, oldest interval.
  return TagType(entry.tag) == ValueType::kDeletion && interval == 0 && !held_below_(entry.key);
}

}  // namespace pmlsm
