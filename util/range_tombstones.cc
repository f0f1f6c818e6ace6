#include "util/range_tombstones.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace pmlsm {
namespace {

// Where a tombstone begins or ends.
struct Bound {
  Slice key;
  SequenceNumber sequence;
  bool begins;
};

SequenceNumber NewestOf(const RangeTombstones::Fragment& fragment, SequenceNumber snapshot) {
  const auto& sequences = fragment.sequences;
  const auto it =
      std::lower_bound(sequences.begin(), sequences.end(), snapshot, std::greater<SequenceNumber>());
  return it == sequences.end() ? 0 : *it;
}

}  // namespace

RangeTombstones::RangeTombstones(const Comparator* comparator, const std::vector<RangeTombstone>& tombstones)
    : comparator_(comparator) {
  std::vector<Bound> bounds;
  for (const RangeTombstone& tombstone : tombstones) {
    if (comparator->Compare(tombstone.begin, tombstone.end) >= 0) continue;
    bounds.push_back({tombstone.begin, tombstone.sequence, true});
    bounds.push_back({tombstone.end, tombstone.sequence, false});
  }
  std::sort(bounds.begin(), bounds.end(),
            [&](const Bound& a, const Bound& b) { return comparator->Compare(a.key, b.key) < 0; });
  std::multiset<SequenceNumber, std::greater<SequenceNumber>> covering;
  for (size_t i = 0; i < bounds.size(); ++i) {
    if (i != 0 && !covering.empty() && !comparator->Equal(bounds[i - 1].key, bounds[i].key)) {
      Fragment fragment{bounds[i - 1].key.ToString(), bounds[i].key.ToString(), {}};
      std::unique_copy(covering.begin(), covering.end(), std::back_inserter(fragment.sequences));
      Append(std::move(fragment));
    }
    if (bounds[i].begins) {
      covering.insert(bounds[i].sequence);
    } else {
      covering.erase(covering.find(bounds[i].sequence));
    }
  }
}

// Joins it to the one before where nothing lies between them.
void RangeTombstones::Append(Fragment fragment) {
  if (!fragments_.empty() && fragments_.back().sequences == fragment.sequences &&
      comparator_->Equal(fragments_.back().end, fragment.begin)) {
    fragments_.back().end = std::move(fragment.end);
  } else {
    fragments_.push_back(std::move(fragment));
  }
}

SequenceNumber RangeTombstones::NewestCovering(const Slice& key, SequenceNumber snapshot) const {
  const auto it = std::partition_point(fragments_.begin(), fragments_.end(), [&](const Fragment& fragment) {
    return comparator_->Compare(fragment.end, key) <= 0;
  });
  if (it == fragments_.end() || comparator_->Compare(key, it->begin) < 0) return 0;
  return NewestOf(*it, snapshot);
}

SequenceNumber RangeTombstones::Cursor::NewestCovering(const Slice& key, SequenceNumber snapshot) {
  const auto& fragments = tombstones_->fragments_;
  const Comparator* const comparator = tombstones_->comparator_;
  while (fragment_ < fragments.size() && comparator->Compare(fragments[fragment_].end, key) <= 0) ++fragment_;
  if (fragment_ == fragments.size() || comparator->Compare(key, fragments[fragment_].begin) < 0) return 0;
  return NewestOf(fragments[fragment_], snapshot);
}

RangeTombstones RangeTombstones::Surviving(
    const std::vector<SequenceNumber>& snapshots,
    const std::function<bool(const Slice&, const Slice&)>& held_below) const {
  RangeTombstones kept(comparator_);
  for (const Fragment& fragment : fragments_) {
    Fragment rest{fragment.begin, fragment.end, {}};
    size_t interval_before = snapshots.size() + 1;
    for (const SequenceNumber sequence : fragment.sequences) {
      // The first snapshot that sees it; snapshots.size() if only the live state does.
      const size_t interval =
          std::lower_bound(snapshots.begin(), snapshots.end(), sequence) - snapshots.begin();
      const bool shadowed = interval == interval_before;
      interval_before = interval;
      if (!shadowed && (interval != 0 || held_below(fragment.begin, fragment.end))) {
        rest.sequences.push_back(sequence);
      }
    }
    if (!rest.sequences.empty()) kept.Append(std::move(rest));
  }
  return kept;
}

RangeTombstones RangeTombstones::Clip(const Slice* begin, const Slice* end) const {
  RangeTombstones clipped(comparator_);
  for (Fragment fragment : fragments_) {
    if (begin != nullptr && comparator_->Compare(fragment.begin, *begin) < 0) {
      fragment.begin = begin->ToString();
    }
    if (end != nullptr && comparator_->Compare(fragment.end, *end) > 0) fragment.end = end->ToString();
    if (comparator_->Compare(fragment.begin, fragment.end) < 0) clipped.Append(std::move(fragment));
  }
  return clipped;
}

}  // namespace pmlsm
