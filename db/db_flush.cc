// Flushing: frozen memtables become a run of level 0 (the paper's Move Node), and their log segments retire.
#include <algorithm>
#include <chrono>
#include <cinttypes>

#include "db/db_impl.h"
#include "util/hooks.h"

namespace pmlsm {

bool DBImpl::HasRunSlot() const {
  // Without merges, or in a Close that does not wait for them, nothing would ever free a slot. All levels have as
  // many slots as the longest one, and half a manifest must hold those of 16 levels; the other half is for log
  // segments.
  constexpr size_t kRunsMaxUnmerged = 256;
  static_assert(16 * kRunsMaxUnmerged * sizeof(uint64_t) <= kManifestTwinBytes / 2);
  const size_t slots =
      options_.disable_auto_compactions || closing_ ? kRunsMaxUnmerged : SlotsPerLevel(options_.size_ratio);
  return version_->runs(0).size() < slots;
}

bool DBImpl::FlushDue() const {
  return !frozen_.empty() && !flush_running_ && work_paused_ == 0 && background_error_.ok() &&
         !flush_lacks_space_ && HasRunSlot();
}

// All frozen memtables become one run.
void DBImpl::FlushFrozen() {
  FlushJob job;
  job.memtables = frozen_;
  job.snapshots = snapshots_.Sequences();
  job.older = version_;
  job.run_number = state_.next_run_number++;
  flush_running_ = true;
  flush_bytes_ = 0;
  for (const MemTableRef& memtable : job.memtables) flush_bytes_ += memtable->rep->ApproximateBytes();
  flush_began_ = std::chrono::steady_clock::now();
  const JobContext context = MakeJobContext();
  PlacedRun flushed;
  // What the flush takes comes on top of what is kept free for writers.
  const bool grows = !IsPoolAtItsLargest();
  mutex_.Unlock();
  hooks.Reached(HookPoint::kFlushPicked);
  if (grows) {
    storage_->extents->GrowAhead(job.memtables.size() * sizes_.flush_bytes + SpaceAhead())
        .PermitUncheckedError();
  }
  const uint64_t cpu_begin = ThreadCpuMicros();
  const auto begin = std::chrono::steady_clock::now();
  Status s = job.Execute(context, &counters_.flush, &flushed);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  hooks.Reached(HookPoint::kFlushWritten);
  mutex_.Lock();
  flush_running_ = false;
  if (s.ok()) flush_speed_.Note(flush_bytes_, took.count() / 1000);
  if (s.ok()) s = InstallFlush(job, flushed);
  if (s.ok()) {
    ++flushes_;
    NoteFlushStats(flushed, took, ThreadCpuMicros() - cpu_begin);
    NoteSpace();
    log_->Write("flush: %zu memtables, run %" PRIu64 ", %" PRIu64 " bytes, %.1f ms", job.memtables.size(),
                job.run_number, flushed.run == nullptr ? 0 : flushed.run->bytes(), took.count());
  } else if (s.IsNoSpace()) {
    merge_for_space_ = true;
    ++flush_tries_without_space_;
    NoteLackOfSpace("flush", s, &flush_lacks_space_);
  } else {
    NoteBackgroundError("flush", s);
  }
  job = FlushJob();
  flushed.run.reset();
  storage_->views.Reclaim();
  HoldMergeSpace();
  progress_.SignalAll();
  work_.SignalAll();
}

Status DBImpl::InstallFlush(const FlushJob& job, const PlacedRun& flushed) {
  ManifestState next = state_;
  VersionEdit edit;
  if (flushed.run != nullptr) edit.added.push_back({0, flushed});
  const VersionRef version = version_->Apply(edit);

  // The job's memtables are the oldest ones; newer ones may have been frozen meanwhile.
  const size_t kept = frozen_.size() - job.memtables.size();
  FamilyState& family = next.families[0];
  family.flushed_sequence = job.memtables.front()->largest_sequence;
  family.oldest_segment = kept == 0 ? active_->first_segment : frozen_[kept - 1]->first_segment;
  RetireSegments(family.oldest_segment, &next);
  const std::vector<SegmentRecord> before = state_.segments;
  Status s = PublishState(version, &next);
  if (!s.ok()) {
    if (flushed.run != nullptr) {
      for (const TableRef& table : flushed.run->tables()) table->MarkObsolete();
      storage_->extents->Free(flushed.descriptor);
    }
    return s;
  }
  frozen_.resize(kept);
  InstallView();
  for (const SegmentRecord& segment : before) {
    if (segment.number >= family.oldest_segment) break;
    const Span span{segment.offset, segment.bytes};
    if (spare_segments_.size() < kSpareSegments && span.bytes == sizes_.segment_bytes) {
      spare_segments_.push_back(span);
    } else {
      storage_->extents->Free(span);
    }
  }
  hooks.Reached(HookPoint::kLogRetired);
  return s;
}

void DBImpl::RetireSegments(uint64_t oldest_needed, ManifestState* state) const {
  auto& segments = state->segments;
  segments.erase(std::remove_if(segments.begin(), segments.end(),
                                [&](const SegmentRecord& segment) { return segment.number < oldest_needed; }),
                 segments.end());
}

}  // namespace pmlsm
