// Merging: runs become one run of a lower level (the paper's Merge Level), step by step.
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <set>

#include "db/db_impl.h"
#include "util/hooks.h"

namespace pmlsm {

bool DBImpl::MergeIfDue() {
  if (merges_paused_ != 0 || work_paused_ != 0 || !background_error_.ok() || merge_lacks_space_) return false;
  // What is in the log need not be flushed at any price.
  if (closing_ && !(merge_for_space_ && unlogged_writes_)) return false;
  std::optional<MergePick> pick;
  // Without merges nothing would ever free a slot, and flushes and writers would wait for ever.
  if (!options_.disable_auto_compactions || !HasRunSlot()) pick = picker_.Pick(*version_);
  if (!pick && merge_for_space_) pick = PickForSpace();
  if (!pick && MergeTombstones()) return true;
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

// A run goes to another level as it is: 1. Publish a level array that has its descriptor there. 2. Show the new
// version. CRASH before 1: it is where it was. Tables and descriptor stay where they lie.
Status DBImpl::MoveRun(const MergePick& pick) {
  VersionEdit edit;
  uint64_t bytes = 0;
  edit.removed = pick.inputs;
  for (const PlacedRun& placed : version_->runs(pick.source_level)) {
    if (pick.inputs.count(placed.run->number()) == 0) continue;
    edit.added.push_back({pick.output_level, placed});
    bytes += placed.run->bytes();
  }
  ManifestState next = state_;
  const Status s = PublishState(version_->Apply(edit), &next);  // 1
  if (s.ok()) {
    InstallView();  // 2
    compaction_stats_.NoteMove(pick.output_level, bytes);
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

// Before a step of a merge: waits while background work is paused.
Status DBImpl::BeginStep() {
  while (work_paused_ != 0 && !cancel_merges_) work_.Wait(&mutex_);
  if (cancel_merges_) return Status::ShutdownInProgress("merge cancelled");
  return CheckSpaceForMerge();
}

// Between two steps of a merge: what is more urgent. A lone background thread has flushes to do.
Status DBImpl::LetOthersIn(const MergePick& pick) {
  while (options_.max_background_jobs == 1 && FlushDue()) FlushFrozen();
  const bool alone = pick.alone || pick.input_levels.empty() || IsPoolAtItsLargest();
  return alone ? Status::OK() : MergeAbove(pick);
}

// Between two steps of a merge: merges of upper levels that have come due go first, so that a large merge
// below holds up neither flushes nor writers.
Status DBImpl::MergeAbove(const MergePick& pick) {
  Status s;
  while (s.ok() && !cancel_merges_ && work_paused_ == 0 && background_error_.ok() && !merge_lacks_space_) {
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
  if (pick.output_number == 0) pick.output_number = state_.next_run_number++;
  picker_.SetBusy(pick);
  ++merges_running_;
  const MergeChoice choice = merge_chooser_->Choose(pick.output_level, pick.inputs.size());
  log_->Write("merge: run %" PRIu64 " of level %d from %zu runs: %s", pick.output_number, pick.output_level,
              pick.inputs.size(), choice.reason.c_str());
  JobContext context = MakeJobContext();
  context.destination = choice.destination;
  const auto begin = std::chrono::steady_clock::now();
  MergeRecord record = BeginMergeStats(pick, choice);
  MergeStep::Result total;
  bool filters = true;
  Status s;
  while (s.ok() && !total.done) {
    s = BeginStep();
    if (!s.ok()) break;
    MergeStep step = MakeMergeStep(pick, choice.order);
    step.filters = filters;
    // What the step takes comes on top of what is kept free for writers.
    const bool grows = !IsPoolAtItsLargest();
    MergeStep::Result result;
    ++steps_running_;
    const auto step_begin = std::chrono::steady_clock::now();
    mutex_.Unlock();
    hooks.Reached(HookPoint::kMergeStepPicked);
    if (grows) storage_->extents->GrowAhead(step.step_bytes + SpaceAhead()).PermitUncheckedError();
    s = step.Execute(context, &counters_.merge_into[pick.output_level], &result);
    hooks.Reached(HookPoint::kMergeStepWritten);
    mutex_.Lock();
    --steps_running_;
    // A snapshot that came meanwhile may see what the filter took: the step goes once more, without it.
    const bool again =
        s.ok() && filters && options_.compaction_filter != nullptr && snapshots_.AnyNewerThan(step.snapshots);
    filters = !again;
    if (again) {
      DiscardMerge(result);
      continue;
    }
    NoteMergeSpeed(result, step_begin);
    if (s.ok()) s = InstallMerge(result);
    if (s.ok()) {
      total.done = result.done;
      total.entries_read += result.entries_read;
      total.entries_written += result.entries_written;
      total.bytes_written += result.bytes_written;
      total.bytes_moved += result.bytes_moved;
    }
    if (s.IsNoSpace() && ReleaseMergeSpace()) s = Status::OK();  // this step again
    step = MergeStep();
    result = MergeStep::Result();
    storage_->views.Reclaim();
    progress_.SignalAll();
    work_.SignalAll();
    if (s.ok() && !total.done) s = LetOthersIn(pick);
  }
  picker_.SetIdle(pick);
  --merges_running_;
  ++space_answers_;
  if (s.ok()) {
    ++merges_;
    NoteSpace();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    EndMergeStats(total, took, &record);
    merge_chooser_->NoteMerge(pick.output_level, total.entries_read,
                              total.entries_read - total.entries_written);
    log_->Write("merge: %zu runs into run %" PRIu64 " of level %d, %" PRIu64 " of %" PRIu64
                " entries kept, %" PRIu64 " bytes written, %" PRIu64 " moved, %.1f ms",
                pick.inputs.size(), pick.output_number, pick.output_level, total.entries_written,
                total.entries_read, total.bytes_written, total.bytes_moved, took.count());
  }
  NoteMergeError("merge", s);
  HoldMergeSpace();
  progress_.SignalAll();
  work_.SignalAll();
  return s;
}

void DBImpl::NoteMergeError(const char* what, const Status& error) {
  if (error.ok() || error.IsShutdownInProgress()) return;
  if (error.IsNoSpace()) {
    NoteLackOfSpace(what, error, &merge_lacks_space_);
  } else {
    NoteBackgroundError(what, error);
  }
}

// The next step of a merge, from the version as it is now.
MergeStep DBImpl::MakeMergeStep(const MergePick& pick, MergeOrder order) const {
  MergeStep step;
  step.output_number = pick.output_number;
  step.output_level = pick.output_level;
  step.snapshots = snapshots_.Sequences();
  step.order = order;
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
  return storage_->extents->PoolIsAtItsMaximum() ||
         storage_->pool->GrowableBytes() <= 2 * sizes_.reserve_bytes;
}

// What a step may write, so that the extra space that it takes, with the tables that lie on both sides of its
// end, stays within DerivedSizes::ExtraBytes.
uint64_t DBImpl::StepBytes(const MergeStep& step) const {
  const uint64_t extra = sizes_.ExtraBytes(version_->bytes());
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
  return std::max(sizes_.TableBytes(version_->bytes()), std::min(bytes, storage_->extents->free_bytes() / 2));
}

Status DBImpl::InstallMerge(const MergeStep::Result& result) {
  ManifestState next = state_;
  const VersionRef before = version_;
  const VersionRef version = before->Apply(result.edit);
  Status s = PublishState(version, &next);
  if (!s.ok()) {
    DiscardMerge(result);
    return s;
  }
  InstallView();
  DropReplaced(*before, result.edit);
  return s;
}

// Of a step whose result is not to be published.
void DBImpl::DiscardMerge(const MergeStep::Result& result) {
  for (const Span& descriptor : result.new_descriptors) storage_->extents->Free(descriptor);
  for (const TableRef& table : result.written) table->MarkObsolete();
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

}  // namespace pmlsm
