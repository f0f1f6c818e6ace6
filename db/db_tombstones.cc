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
std::optional<KeyBounds> DBImpl::DenseRange(const ColumnFamily& family) const {
  // What the last such merge had to leave (a snapshot sees it, say) is no reason for another.
  const bool snapshot_went = snapshots_.Oldest() > family.tombstone_merge_snapshot;
  const uint64_t least =
      snapshot_went ? kTombstonesMin : std::max(kTombstonesMin, 2 * family.tombstones_left);
  uint64_t all_tombstones = 0;
  for (const Run* run : family.version->newest_first()) all_tombstones += run->tombstones();
  if (all_tombstones < least) return std::nullopt;
  const Comparator* const comparator = family.options.comparator;
  Slice begin, end;
  uint64_t tombstones = 0;
  for (const Run* run : family.version->newest_first()) {
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
  for (const Run* run : family.version->newest_first()) {
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

bool DBImpl::TombstonesDue(const ColumnFamily& family) const {
  return !family.options.disable_auto_compactions && family.picker.idle() && DenseRange(family).has_value();
}

// False if no family's range is dense or its merge failed, which is noted. Other merges go between its steps.
bool DBImpl::MergeTombstones() {
  if (closing_) return false;
  for (const ColumnFamilyRef& family : families_) {
    if (family->merges_paused == 0 && TombstonesDue(*family)) return MergeTombstones(family.get());
  }
  return false;
}

bool DBImpl::MergeTombstones(ColumnFamily* family) {
  const ColumnFamilyRef held = family->shared_from_this();  // it may be dropped meanwhile
  const std::optional<KeyBounds> bounds = DenseRange(*family);
  const SequenceNumber oldest = snapshots_.Oldest();
  SequenceNumber newest = 0;  // of the runs that it can merge
  for (const Run* run : family->version->newest_first()) newest = std::max(newest, run->sequence_max());
  const auto all = family->picker.PickAll(*family->version);
  log_->Write("%smerge: tombstones lie dense", family->log_prefix.c_str());
  ++family->merges_paused;
  const Status s = MergeRange(family, *bounds, *all);
  --family->merges_paused;
  if (family->dropped) return false;
  family->tombstone_merge_snapshot = oldest;
  family->tombstones_left = 0;
  for (const Run* run : family->version->newest_first()) {
    if (run->sequence_max() > newest) continue;
    for (const TableRef& handle : run->tables()) {
      if (IsDense(handle->table())) family->tombstones_left += handle->table().header().tombstones;
    }
  }
  work_.SignalAll();
  progress_.SignalAll();
  return s.ok();
}

}  // namespace pmlsm
