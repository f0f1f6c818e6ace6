// Background work: flushes and merges, by themselves and as users ask for them. Jobs run outside mutex_; their
// results are published under it, one at a time. Space for them: db_space.cc.
//
// Publishing, in order: 1. The job has made tables and descriptors durable. 2. Manifest::Publish. 3. The new
// version and view are installed; what the manifest no longer names is marked obsolete, and its space is
// reused once no view holds it. CRASH before 2: the old state, the job's space is free. After 2: the new
// state.
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <utility>

#include "db/db_impl.h"
#include "util/hooks.h"

namespace pmlsm {

// Thread 0 flushes first; the others only merge, so that a flush never waits behind a merge. A lone thread
// does both.
void DBImpl::BackgroundThread(int index) {
  const bool flushes = index == 0;
  const bool merges = index != 0 || options_.max_background_jobs == 1;
  std::chrono::milliseconds pause = kHousekeepingPause;
  MutexLock lock(&mutex_);
  while (!stopping_) {
    if (flushes && FlushDue()) {
      FlushFrozen();
      pause = kHousekeepingPause;
      continue;
    }
    if (merges && MergeIfDue()) {
      pause = kHousekeepingPause;
      continue;
    }
    if (!flushes) {
      work_.Wait(&mutex_);
      continue;
    }
    bool lacks_space = false;
    if (PrepareSpace(&lacks_space)) continue;  // mutex_ was let go: look again
    const bool waiting_for_readers = storage_->views.Reclaim() != 0;
    progress_.SignalAll();
    if (SpaceCameBack() || RetryForSpace()) continue;
    if (waiting_for_readers || lacks_space || flush_lacks_space_ || merge_lacks_space_) {
      work_.WaitFor(&mutex_, pause);
      pause = std::min(2 * pause, kHousekeepingPauseMax);
    } else {
      work_.Wait(&mutex_);
    }
  }
}

JobContext DBImpl::MakeJobContext(uint64_t table_bytes) {
  JobContext context;
  context.pool = storage_->pool.get();
  context.extents = storage_->extents.get();
  context.publisher = publisher_.get();
  context.table_options = {options_.comparator, options_.node_bytes, options_.filter_bits_per_key};
  context.table_bytes = table_bytes;
  context.destination = options_.merge_destination == MergeDestination::kBuffered
                            ? MergeDestination::kBuffered
                            : MergeDestination::kDirect;
  context.next_table_number = [this] { return next_table_number_.fetch_add(1, std::memory_order_relaxed); };
  context.cancelled = [this] { return stopping_.load(std::memory_order_relaxed); };
  return context;
}

// ---- Flush ----

bool DBImpl::HasRunSlot() const {
  // Without merges nothing would ever free a slot. All levels have as many slots as the longest one, and half
  // a manifest must hold those of 16 levels; the other half is for log segments.
  constexpr size_t kRunsMaxUnmerged = 256;
  static_assert(16 * kRunsMaxUnmerged * sizeof(uint64_t) <= kManifestTwinBytes / 2);
  const size_t slots =
      options_.disable_auto_compactions ? kRunsMaxUnmerged : SlotsPerLevel(options_.size_ratio);
  return version_->runs(0).size() < slots;
}

bool DBImpl::FlushDue() const {
  return !frozen_.empty() && !flush_running_ && background_error_.ok() && !flush_lacks_space_ && HasRunSlot();
}

// All frozen memtables become one run.
void DBImpl::FlushFrozen() {
  FlushJob job;
  job.memtables = frozen_;
  job.snapshots = snapshots_.Sequences();
  job.run_number = state_.next_run_number++;
  flush_running_ = true;
  const JobContext context = MakeJobContext(sizes_.table_bytes);
  PlacedRun flushed;
  mutex_.Unlock();
  hooks.Reached(HookPoint::kFlushPicked);
  const uint64_t cpu_begin = ThreadCpuMicros();
  const auto begin = std::chrono::steady_clock::now();
  Status s = job.Execute(context, &counters_.flush, &flushed);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  hooks.Reached(HookPoint::kFlushWritten);
  mutex_.Lock();
  if (s.ok()) s = InstallFlush(job, flushed);
  flush_running_ = false;
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
  job.memtables.clear();
  flushed.run.reset();
  storage_->views.Reclaim();
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

// ---- Merge ----

bool DBImpl::MergeIfDue() {
  if (merges_paused_ != 0 || !background_error_.ok() || merge_lacks_space_) return false;
  std::optional<MergePick> pick;
  // Without merges nothing would ever free a slot, and flushes and writers would wait for ever.
  if (!options_.disable_auto_compactions || !HasRunSlot()) pick = picker_.Pick(*version_);
  if (!pick && merge_for_space_) pick = PickForSpace();
  if (!pick) {
    if (merge_for_space_) ++space_answers_;
    merge_for_space_ = false;
    progress_.SignalAll();
    return false;
  }
  merge_for_space_ = false;
  (void)MergeRuns(*pick).ok();  // what went wrong is noted inside
  return true;
}

// Everything into one run, if that was not tried since the last write: it drops what newer entries hide.
std::optional<MergePick> DBImpl::PickForSpace() {
  const SequenceNumber now = last_sequence_.load(std::memory_order_relaxed);
  if (version_->run_count() < 2 || now == space_merge_sequence_) return std::nullopt;
  space_merge_sequence_ = now;
  return picker_.PickAll(*version_);
}

// A run goes to another level as it is. CRASH before the publish: it is where it was.
Status DBImpl::MoveRun(const MergePick& pick) {
  VersionEdit edit;
  edit.removed = pick.inputs;
  for (const PlacedRun& placed : version_->runs(pick.source_level)) {
    if (pick.inputs.count(placed.run->number()) != 0) edit.added.push_back({pick.output_level, placed});
  }
  ManifestState next = state_;
  const Status s = PublishState(version_->Apply(edit), &next);
  if (s.ok()) {
    InstallView();
    log_->Write("move: run %" PRIu64 " of level %d to level %d", *pick.inputs.begin(), pick.source_level,
                pick.output_level);
  } else if (s.IsNoSpace()) {
    NoteLackOfSpace("move", s, &merge_lacks_space_);
  } else {
    NoteBackgroundError("move", s);
  }
  progress_.SignalAll();
  return s;
}

// Between two steps of a merge: merges of upper levels that have come due go first, so that a large merge
// below holds up neither flushes nor writers.
Status DBImpl::MergeAbove(const MergePick& pick) {
  Status s;
  while (s.ok() && !stopping_ && background_error_.ok() && !merge_lacks_space_) {
    const auto above = picker_.Pick(*version_);
    const bool first = above && (above->source_level < pick.source_level || above->input_levels.empty());
    if (!first) break;
    s = MergeRuns(*above);
  }
  return s;
}

// Merges the picked runs step by step. Errors are noted here, too.
Status DBImpl::MergeRuns(MergePick pick) {
  if (pick.moves) return MoveRun(pick);
  pick.output_number = state_.next_run_number++;
  picker_.SetBusy(pick);
  ++merges_running_;
  const JobContext context = MakeJobContext(sizes_.table_bytes);
  const auto begin = std::chrono::steady_clock::now();
  MergeRecord record = BeginMergeStats(pick, context);
  MergeStep::Result total;
  Status s;
  while (s.ok() && !total.done) {
    s = CheckSpaceForMerge();
    if (!s.ok()) break;
    MergeStep step = MakeMergeStep(pick);
    MergeStep::Result result;
    mutex_.Unlock();
    hooks.Reached(HookPoint::kMergeStepPicked);
    s = step.Execute(context, &counters_.merge, &result);
    hooks.Reached(HookPoint::kMergeStepWritten);
    mutex_.Lock();
    if (s.ok()) s = InstallMerge(result);
    total.done = s.ok() && result.done;
    if (s.IsNoSpace() && ReleaseMergeSpace()) s = Status::OK();  // this step again
    total.entries_read += result.entries_read;
    total.entries_written += result.entries_written;
    total.bytes_written += result.bytes_written;
    total.bytes_moved += result.bytes_moved;
    step = MergeStep();
    result = MergeStep::Result();
    storage_->views.Reclaim();
    progress_.SignalAll();
    work_.SignalAll();
    const bool lets_others_in = !pick.input_levels.empty() && !IsPoolAtItsLargest();
    if (s.ok() && !total.done && lets_others_in) s = MergeAbove(pick);
  }
  picker_.SetIdle(pick);
  --merges_running_;
  ++space_answers_;
  if (s.ok()) {
    ++merges_;
    NoteSpace();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    EndMergeStats(total, took, &record);
    log_->Write("merge: %zu runs into run %" PRIu64 " of level %d, %" PRIu64 " of %" PRIu64
                " entries kept, %" PRIu64 " bytes written, %" PRIu64 " moved, %.1f ms",
                pick.inputs.size(), pick.output_number, pick.output_level, total.entries_written,
                total.entries_read, total.bytes_written, total.bytes_moved, took.count());
  } else if (s.IsNoSpace()) {
    NoteLackOfSpace("merge", s, &merge_lacks_space_);
  } else if (!s.IsShutdownInProgress()) {
    NoteBackgroundError("merge", s);
  }
  progress_.SignalAll();
  work_.SignalAll();
  return s;
}

// The next step of a merge, from the version as it is now.
MergeStep DBImpl::MakeMergeStep(const MergePick& pick) const {
  MergeStep step;
  step.output_number = pick.output_number;
  step.output_level = pick.output_level;
  step.snapshots = snapshots_.Sequences();
  // doc/ARCHITECTURE.md, "Merge order".
  step.order = options_.merge_order == MergeOrder::k2Way ? MergeOrder::k2Way : MergeOrder::kKWay;
  for (int level = 0; level < version_->levels(); ++level) {
    for (const PlacedRun& placed : version_->runs(level)) {
      if (placed.run->number() == pick.output_number) {
        step.output = placed;
      } else if (pick.inputs.count(placed.run->number()) != 0) {
        step.inputs.push_back({level, placed});
      } else if (!step.inputs.empty()) {
        step.older.push_back(placed.run);
      }
    }
  }
  step.step_bytes = StepBytes(step);
  step.takes_over_tables = !IsPoolAtItsLargest();
  return step;
}

// Then space is what merges make: they go in large steps that copy everything, one after the other, which
// leaves free space in larger pieces.
bool DBImpl::IsPoolAtItsLargest() const {
  return storage_->pool->GrowableBytes() <= 2 * sizes_.reserve_bytes;
}

// What a step may write, so that the extra space that it takes, with the tables that lie on both sides of its
// end, stays within a tenth of the DB (or merge_step_bytes, if that is more).
uint64_t DBImpl::StepBytes(const MergeStep& step) const {
  const uint64_t extra = std::max(sizes_.merge_step_bytes, version_->bytes() / 10);
  uint64_t cut_tables = 0;
  for (const MergeStep::Input& input : step.inputs) {
    uint64_t largest = 0;
    for (const TableRef& table : input.run.run->tables()) {
      largest = std::max(largest, table->table().span().bytes);
    }
    cut_tables += largest;
  }
  if (IsPoolAtItsLargest()) cut_tables = 0;
  const uint64_t bytes = extra > cut_tables ? extra - cut_tables : 0;
  return std::max(sizes_.table_bytes, std::min(bytes, storage_->extents->free_bytes() / 2));
}

Status DBImpl::InstallMerge(const MergeStep::Result& result) {
  ManifestState next = state_;
  const VersionRef before = version_;
  const VersionRef version = before->Apply(result.edit);
  Status s = PublishState(version, &next);
  if (!s.ok()) {
    for (const Span& descriptor : result.new_descriptors) storage_->extents->Free(descriptor);
    for (const TableRef& table : result.written) table->MarkObsolete();
    return s;
  }
  InstallView();
  DropReplaced(*before, result.edit);
  return s;
}

// What the published manifest no longer names: descriptors at once (only Open reads them), tables when
// unread.
void DBImpl::DropReplaced(const Version& before, const VersionEdit& edit) {
  std::set<const TableHandle*> kept;
  std::set<uint64_t> kept_descriptors;
  for (const auto& added : edit.added) {
    kept_descriptors.insert(added.run.descriptor.offset);
    for (const TableRef& table : added.run.run->tables()) kept.insert(table.get());
  }
  for (int level = 0; level < before.levels(); ++level) {
    for (const PlacedRun& placed : before.runs(level)) {
      if (edit.removed.count(placed.run->number()) == 0) continue;
      if (kept_descriptors.count(placed.descriptor.offset) == 0) storage_->extents->Free(placed.descriptor);
      for (const TableRef& table : placed.run->tables()) {
        if (kept.count(table.get()) == 0) table->MarkObsolete();
      }
    }
  }
}

// ---- Publishing ----

// Publishes *state with the level array of `version`; on success both are in force.
Status DBImpl::PublishState(const VersionRef& version, ManifestState* state) {
  state->last_sequence = std::max(state->last_sequence, last_sequence_.load(std::memory_order_acquire));
  state->next_run_number = state_.next_run_number;
  state->next_table_number = next_table_number_.load(std::memory_order_relaxed);
  FamilyState& family = state->families[0];
  size_t slots = SlotsPerLevel(options_.size_ratio);
  for (int level = 0; level < version->levels(); ++level)
    slots = std::max(slots, version->runs(level).size());
  for (int level = 0; level < version->levels(); ++level) {
    auto& array = family.levels[level];
    array.assign(slots, 0);
    for (size_t slot = 0; slot < version->runs(level).size(); ++slot) {
      array[slot] = version->runs(level)[slot].descriptor.offset;
    }
  }
  Status s = manifest_->Publish(state);
  if (!s.ok()) return s;
  state_ = *state;
  version_ = version;
  hooks.Reached(HookPoint::kPublished);
  return s;
}

void DBImpl::InstallView() { storage_->views.Install(active_, frozen_, version_); }

void DBImpl::NoteBackgroundError(const char* what, const Status& error) {
  log_->Write("%s: %s; writes are refused until the DB is opened again", what, error.ToString().c_str());
  if (background_error_.ok()) background_error_ = error;
  write_blocked_.store(true, std::memory_order_release);
  progress_.SignalAll();
}

bool DBImpl::BackgroundIdle() const {
  return frozen_.empty() && !flush_running_ && merges_running_ == 0 &&
         (options_.disable_auto_compactions || !picker_.Pick(*version_));
}

// ---- Asked for by the user ----

Status DBImpl::Flush(const FlushOptions& options) {
  Status s = FreezeActive();
  if (!s.ok() || !options.wait) return s;
  MutexLock lock(&mutex_);
  if (frozen_.empty()) return s;
  const MemTableRef newest = frozen_.front();
  const auto pending = [&]() NO_THREAD_SAFETY_ANALYSIS {
    return std::find(frozen_.begin(), frozen_.end(), newest) != frozen_.end();
  };
  NoteSpace();  // there may be some: tried at once
  work_.SignalAll();
  while (pending() && background_error_.ok() && !FlushLacksSpace()) progress_.Wait(&mutex_);
  if (!pending()) return Status::OK();
  return background_error_.ok() ? Status::NoSpace("memtables cannot be flushed", name_) : background_error_;
}

Status DBImpl::FreezeActive() {
  MutexLock write_lock(&write_mutex_);
  if (write_blocked_.load(std::memory_order_relaxed)) {
    MutexLock lock(&mutex_);
    return closed_ ? Status::Aborted("DB is closed", name_) : background_error_;
  }
  if (active_rep_->entries() == 0) return Status::OK();
  return SwitchMemTable(0, ExtentAllocator::Use::kBackground);
}

Status DBImpl::CompactRange(const CompactRangeOptions&, const Slice* begin, const Slice* end) {
  Status s = Flush(FlushOptions());
  if (!s.ok()) return s;
  MutexLock lock(&mutex_);
  const auto overlaps = [&](const Run* run) {
    return (begin == nullptr || options_.comparator->Compare(run->largest(), *begin) >= 0) &&
           (end == nullptr || options_.comparator->Compare(run->smallest(), *end) <= 0);
  };
  ++merges_paused_;
  while (background_error_.ok() && !stopping_ && !picker_.idle()) progress_.Wait(&mutex_);
  s = background_error_;
  const auto& runs = version_->newest_first();
  if (s.ok() && !stopping_ && std::any_of(runs.begin(), runs.end(), overlaps)) {
    const auto pick = picker_.PickAll(*version_);
    if (pick) s = MergeRuns(*pick);
  }
  --merges_paused_;
  work_.SignalAll();
  return s;
}

Status DBImpl::WaitForCompact() {
  MutexLock lock(&mutex_);
  if (closed_) return Status::Aborted("DB is closed", name_);
  while (!BackgroundIdle() && background_error_.ok() && !FlushLacksSpace() && !MergeLacksSpace()) {
    work_.SignalAll();
    progress_.Wait(&mutex_);
  }
  if (!background_error_.ok() || BackgroundIdle()) return background_error_;
  return Status::NoSpace("flushes or merges wait for space", name_);
}

}  // namespace pmlsm
