// Flushing: frozen memtables become a run of level 0 (the paper's Move Node), and their log segments retire.
#include <algorithm>
#include <chrono>
#include <cinttypes>

#include "db/db_impl.h"
#include "util/hooks.h"

namespace pmlsm {

bool DBImpl::HasRunSlot(const ColumnFamily& family) const {
  // Without merges, or in a Close that does not wait for them, nothing would ever free a slot. All levels of a family
  // have as many slots as the longest one, and half a manifest must hold those of all families.
  constexpr size_t kRunsMaxUnmerged = 256;
  static_assert(16 * kRunsMaxUnmerged * sizeof(uint64_t) <= kManifestTwinBytes / 2);
  const size_t runs = family.version->runs(0).size() + 1;
  if (runs <= static_cast<size_t>(SlotsPerLevel(family.options.size_ratio))) return true;
  if (!(family.options.disable_auto_compactions || closing_) || runs > kRunsMaxUnmerged) return false;
  uint64_t bytes = family.SlotBytes(runs);
  for (const ColumnFamilyRef& other : families_) {
    if (other.get() != &family) bytes += other->SlotBytes(0);
  }
  return bytes <= kManifestTwinBytes / 2;
}

// Of the families that have something to flush, and a slot for it, the one with the oldest log; null if none is due.
ColumnFamily* DBImpl::FamilyToFlush() const {
  if (flush_running_ || work_paused_ != 0 || !background_error_.ok() || flush_lacks_space_) return nullptr;
  ColumnFamily* oldest = nullptr;
  for (const ColumnFamilyRef& family : families_) {
    if (family->frozen.empty() || !HasRunSlot(*family)) continue;
    if (oldest == nullptr || family->OldestSegment() < oldest->OldestSegment()) oldest = family.get();
  }
  return oldest;
}

bool DBImpl::FlushWaitsForSlot() const {
  const auto waits = [this](const ColumnFamilyRef& family) NO_THREAD_SAFETY_ANALYSIS {
    return !family->frozen.empty() && !HasRunSlot(*family);
  };
  return std::any_of(families_.begin(), families_.end(), waits);
}

bool DBImpl::AnyFrozen() const {
  return std::any_of(families_.begin(), families_.end(),
                     [](const ColumnFamilyRef& family) { return !family->frozen.empty(); });
}

// All frozen memtables of the family become one run.
void DBImpl::FlushFrozen(ColumnFamily* family) {
  const ColumnFamilyRef held = family->shared_from_this();  // it may be dropped meanwhile
  FlushJob job;
  job.memtables = family->frozen;
  job.snapshots = snapshots_.Sequences();
  job.older = family->version;
  job.run_number = state_.next_run_number++;
  flush_running_ = true;
  flush_family_ = family;
  flush_bytes_ = family->FrozenBytes();
  flush_began_ = std::chrono::steady_clock::now();
  const JobContext context = MakeJobContext(family);
  PlacedRun flushed;
  // What the flush takes comes on top of what is kept free for writers.
  const bool grows = !IsPoolAtItsLargest();
  const uint64_t grow_bytes = job.memtables.size() * family->sizes.flush_bytes + SpaceAhead();
  mutex_.Unlock();
  hooks.Reached(HookPoint::kFlushPicked);
  if (grows) storage_->extents->GrowAhead(grow_bytes).PermitUncheckedError();
  const uint64_t cpu_begin = ThreadCpuMicros();
  const auto begin = std::chrono::steady_clock::now();
  Status s = job.Execute(context, &counters_.flush, &flushed);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  hooks.Reached(HookPoint::kFlushWritten);
  mutex_.Lock();
  flush_running_ = false;
  flush_family_ = nullptr;
  if (s.ok()) flush_speed_.Note(flush_bytes_, took.count() / 1000);
  if (s.ok()) s = InstallFlush(family, job, flushed);
  if (s.ok()) {
    ++flushes_;
    ++family->run_changes;
    NoteFlushStats(family, flushed, took, ThreadCpuMicros() - cpu_begin);
    NoteSpace();
    log_->Write("%sflush: %zu memtables, run %" PRIu64 ", %" PRIu64 " bytes, %.1f ms",
                family->log_prefix.c_str(), job.memtables.size(), job.run_number,
                flushed.run == nullptr ? 0 : flushed.run->bytes(), took.count());
  } else if (family->dropped) {
    log_->Write("%sflush: of a family that was dropped", family->log_prefix.c_str());
  } else if (s.IsNoSpace()) {
    merge_for_space_ = true;
    ++flush_tries_without_space_;
    NoteLackOfSpace("flush", s, &flush_lacks_space_);
  } else {
    NoteBackgroundError("flush", s);
  }
  job = FlushJob();
  flushed.run.reset();
  storage_->Reclaim();
  HoldMergeSpace();
  progress_.SignalAll();
  work_.SignalAll();
}

Status DBImpl::InstallFlush(ColumnFamily* family, const FlushJob& job, const PlacedRun& flushed) {
  if (family->dropped) {
    DiscardFlush(flushed);
    return DroppedError(*family);
  }
  ManifestState next = state_;
  VersionEdit edit;
  if (flushed.run != nullptr) edit.added.push_back({0, flushed});
  const VersionRef version = family->version->Apply(edit);

  // The job's memtables are the oldest ones; newer ones may have been frozen meanwhile.
  const std::vector<MemTableRef> before = family->frozen;
  family->frozen.resize(before.size() - job.memtables.size());
  FindFamily(&next, family->id)->flushed_sequence = job.memtables.front()->largest_sequence;
  Status s = PublishVersion(family, version, &next);
  if (!s.ok()) {
    family->frozen = before;
    DiscardFlush(flushed);
    return s;
  }
  InstallView(family);
  hooks.Reached(HookPoint::kLogRetired);
  return s;
}

// Of a flush whose run is not to be published.
void DBImpl::DiscardFlush(const PlacedRun& flushed) {
  if (flushed.run == nullptr) return;
  for (const TableRef& table : flushed.run->tables()) table->MarkObsolete();
  storage_->extents->Free(flushed.descriptor);
}

// Leaves in *state the log segments that some family needs, by its memtables as they are now; the others are
// returned.
std::vector<SegmentRecord> DBImpl::RetireSegments(ManifestState* state) const {
  uint64_t oldest_needed = state->next_segment_number;
  for (const ColumnFamilyRef& family : families_) {
    FamilyState* const family_state = FindFamily(state, family->id);
    if (family_state == nullptr) continue;  // it is being dropped
    family_state->oldest_segment = std::max(family_state->oldest_segment, family->OldestSegment());
    oldest_needed = std::min(oldest_needed, family_state->oldest_segment);
  }
  auto& segments = state->segments;
  const auto first_needed = std::find_if(segments.begin(), segments.end(), [&](const SegmentRecord& segment) {
    return segment.number >= oldest_needed;
  });
  std::vector<SegmentRecord> retired(segments.begin(), first_needed);
  segments.erase(segments.begin(), first_needed);
  return retired;
}

void DBImpl::FreeSegment(const SegmentRecord& segment) {
  const Span span{segment.offset, segment.bytes};
  if (spare_segments_.size() < kSpareSegments && span.bytes == segment_bytes_) {
    spare_segments_.push_back(span);
  } else {
    storage_->extents->Free(span);
  }
}

}  // namespace pmlsm
