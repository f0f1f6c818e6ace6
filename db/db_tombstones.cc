// Merging where deletions lie dense, once nothing else is due: a scan of what is gone should not cost what it held,
// as at the head of a queue whose first entries were deleted after they had been merged.
#include <algorithm>
#include <string>

#include "db/db_impl.h"

namespace pmlsm {
namespace {

// A table counts as dense if this share of its entries are tombstones.
constexpr uint64_t kDenseShare = 2;
// A merge is worth while if the dense tables' tombstones are this share of what it has to read: deleting everything
// bit by bit then makes merges read each entry this often.
constexpr uint64_t kRangeShare = 4;
constexpr uint64_t kTombstonesMin = 1024;

bool IsDense(const Table& table) {
  return table.header().tombstones != 0 && table.header().tombstones * kDenseShare >= table.header().entries;
}

}  // namespace

// The range of all dense tables, if it is worth a merge.
std::optional<KeyBounds> DBImpl::DenseRange() const {
  // What the last such merge had to leave (a snapshot sees it, say) is no reason for another.
  const bool snapshot_went = snapshots_.Oldest() > tombstone_merge_snapshot_;
  const uint64_t least = snapshot_went ? kTombstonesMin : std::max(kTombstonesMin, 2 * tombstones_left_);
  uint64_t all_tombstones = 0;
  for (const Run* run : version_->newest_first()) all_tombstones += run->tombstones();
  if (all_tombstones < least) return std::nullopt;
  const Comparator* const comparator = options_.comparator;
  Slice begin, end;
  uint64_t tombstones = 0;
  for (const Run* run : version_->newest_first()) {
    for (const TableRef& handle : run->tables()) {
      const Table& table = handle->table();
      if (!IsDense(table)) continue;
      if (tombstones == 0 || comparator->Compare(table.smallest(), begin) < 0) begin = table.smallest();
      if (tombstones == 0 || comparator->Compare(table.largest(), end) > 0) end = table.largest();
      tombstones += table.header().tombstones;
    }
  }
  if (tombstones < least) return std::nullopt;
  KeyBounds bounds;
  bounds.begin = begin.ToString();
  bounds.end = end.ToString();
  uint64_t entries = 0;
  for (const Run* run : version_->newest_first()) {
    for (const TableRef& handle : run->tables()) {
      const Table& table = handle->table();
      const bool apart =
          comparator->Compare(table.largest(), begin) < 0 || comparator->Compare(table.smallest(), end) > 0;
      if (!apart) entries += table.header().entries;
    }
  }
  if (tombstones * kRangeShare < entries) return std::nullopt;
  return bounds;
}

bool DBImpl::TombstonesDue() const {
  return !options_.disable_auto_compactions && picker_.idle() && DenseRange().has_value();
}

// False if no range is dense or its merge failed, which is noted. Other merges go between its steps.
bool DBImpl::MergeTombstones() {
  if (options_.disable_auto_compactions || !picker_.idle() || closing_) return false;
  const std::optional<KeyBounds> bounds = DenseRange();
  if (!bounds) return false;
  const SequenceNumber oldest = snapshots_.Oldest();
  SequenceNumber newest = 0;  // of the runs that it can merge
  for (const Run* run : version_->newest_first()) newest = std::max(newest, run->sequence_max());
  const auto all = picker_.PickAll(*version_);
  log_->Write("merge: tombstones lie dense");
  ++merges_paused_;
  const Status s = MergeRange(*bounds, *all);
  --merges_paused_;
  tombstone_merge_snapshot_ = oldest;
  tombstones_left_ = 0;
  for (const Run* run : version_->newest_first()) {
    if (run->sequence_max() > newest) continue;
    for (const TableRef& handle : run->tables()) {
      if (IsDense(handle->table())) tombstones_left_ += handle->table().header().tombstones;
    }
  }
  work_.SignalAll();
  progress_.SignalAll();
  return s.ok();
}

}  // namespace pmlsm
