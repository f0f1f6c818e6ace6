// Merging: runs become one run of a lower level (the paper's Merge Level), step by step.
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <set>

#include "db/db_impl.h"
#include "util/hooks.h"

namespace pmlsm {

bool DBImpl::MergeIfDue() {
  if (work_paused_ != 0 || !background_error_.ok() || merge_lacks_space_) return false;
  // What is in the log need not be flushed at any price.
  if (closing_ && !(merge_for_space_ && unlogged_writes_) && !FlushWaitsForSlot()) return false;
  std::optional<DueMerge> due = PickDueMerge();
  if (!due && merge_for_space_) due = PickForSpace();
  if (!due && MergeTombstones()) return true;
  if (!due) {
    if (AnyMergesPaused()) return false;  // there may be one for space yet
    if (merge_for_space_) ++space_answers_;
    merge_for_space_ = false;
    progress_.SignalAll();
    return false;
  }
  merge_for_space_ = false;
  (void)MergeRuns(due->family, due->pick).ok();  // what went wrong is noted inside
  return true;
}

// Of the merges that are due, the one of the family with the largest debt.
std::optional<DBImpl::DueMerge> DBImpl::PickDueMerge() const {
  std::optional<DueMerge> due;
  uint64_t most = 0;
  for (const ColumnFamilyRef& family : families_) {
    // Without merges nothing would ever free a slot, and flushes and writers would wait for ever.
    const bool merges = !family->options.disable_auto_compactions || !HasRunSlot(*family);
    if (!merges || family->merges_paused != 0) continue;
    std::optional<MergePick> pick = family->picker.Pick(*family->version);
    const uint64_t debt = pick ? family->picker.DebtBytes(*family->version) : 0;
    if (!pick || (due && debt <= most)) continue;
    due = DueMerge{family.get(), std::move(*pick)};
    most = debt;
  }
  return due;
}

// Everything of a family into one run, if that was not tried since the last write: it drops what newer entries hide.
std::optional<DBImpl::DueMerge> DBImpl::PickForSpace() {
  const SequenceNumber now = last_sequence_.load(std::memory_order_relaxed);
  for (const ColumnFamilyRef& family : families_) {
    if (family->version->run_count() < 2 || now == family->space_merge_sequence) continue;
    if (family->merges_paused != 0) continue;
    family->space_merge_sequence = now;
    std::optional<MergePick> pick = family->picker.PickAll(*family->version);
    if (pick) return DueMerge{family.get(), std::move(*pick)};
  }
  return std::nullopt;
}

// A run goes to another level as it is: 1. Publish a level array that has its descriptor there. 2. Show the new
// version. CRASH before 1: it is where it was. Tables and descriptor stay where they lie.
Status DBImpl::MoveRun(ColumnFamily* family, const MergePick& pick) {
  VersionEdit edit;
  uint64_t bytes = 0;
  edit.removed = pick.inputs;
  for (const PlacedRun& placed : family->version->runs(pick.source_level)) {
    if (pick.inputs.count(placed.run->number()) == 0) continue;
    edit.added.push_back({pick.output_level, placed});
    bytes += placed.run->bytes();
  }
  ManifestState next = state_;
  const Status s = PublishVersion(family, family->version->Apply(edit), &next);  // 1
  if (s.ok()) {
    InstallView(family);  // 2
    family->compaction_stats.NoteMove(pick.output_level, bytes);
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
Status DBImpl::BeginStep(const ColumnFamily& family) {
  while (work_paused_ != 0 && !cancel_merges_ && !family.dropped) work_.Wait(&mutex_);
  if (cancel_merges_ || family.dropped) return Status::ShutdownInProgress("merge cancelled");
  return CheckSpaceForMerge();
}

// Between two steps of a merge: what is more urgent. A lone background thread has flushes to do.
Status DBImpl::LetOthersIn(const ColumnFamily& family, const MergePick& pick) {
  while (options_.max_background_jobs == 1) {
    ColumnFamily* const full = FamilyToFlush();
    if (full == nullptr) break;
    FlushFrozen(full);
  }
  const bool alone = pick.alone || pick.input_levels.empty() || IsPoolAtItsLargest();
  return alone ? Status::OK() : MergeAbove(family, pick);
}

// Between two steps of a merge: merges of upper levels that have come due, of any family, go first, so that a large
// merge below holds up neither flushes nor writers.
Status DBImpl::MergeAbove(const ColumnFamily& family, const MergePick& pick) {
  Status s;
  while (s.ok() && !cancel_merges_ && work_paused_ == 0 && background_error_.ok() && !merge_lacks_space_) {
    std::optional<DueMerge> above;
    for (const ColumnFamilyRef& other : families_) {
      const bool own = other.get() == &family;
      if (!own && (other->merges_paused != 0 || other->options.disable_auto_compactions)) continue;
      std::optional<MergePick> due = other->picker.Pick(*other->version);
      const bool first = due && (due->source_level < pick.source_level || (own && due->input_levels.empty()));
      if (!first || (above && above->pick.source_level <= due->source_level)) continue;
      above = DueMerge{other.get(), std::move(*due)};
    }
    if (!above) break;
    s = MergeRuns(above->family, above->pick);
  }
  return s;
}

// Merges the picked runs step by step. Errors are noted here, too.
Status DBImpl::MergeRuns(ColumnFamily* family, MergePick pick) {
  if (pick.moves) return MoveRun(family, pick);
  const ColumnFamilyRef held = family->shared_from_this();  // it may be dropped meanwhile
  if (pick.output_number == 0) pick.output_number = state_.next_run_number++;
  family->picker.SetBusy(pick);
  ++merges_running_;
  const MergeChoice choice = family->merge_chooser.Choose(pick.output_level, pick.inputs.size());
  log_->Write("%smerge: run %" PRIu64 " of level %d from %zu runs: %s", family->log_prefix.c_str(),
              pick.output_number, pick.output_level, pick.inputs.size(), choice.reason.c_str());
  JobContext context = MakeJobContext(family);
  context.destination = choice.destination;
  const auto begin = std::chrono::steady_clock::now();
  MergeRecord record = BeginMergeStats(*family, pick, choice);
  MergeStep::Result total;
  bool filters = true;
  Status s;
  while (s.ok() && !total.done) {
    s = BeginStep(*family);
    if (!s.ok()) break;
    MergeStep step = MakeMergeStep(*family, pick, choice.order);
    step.filters = filters;
    // What the step takes comes on top of what is kept free for writers.
    const bool grows = !IsPoolAtItsLargest();
    const uint64_t grow_bytes = step.step_bytes + SpaceAhead();
    MergeStep::Result result;
    ++steps_running_;
    const auto step_begin = std::chrono::steady_clock::now();
    mutex_.Unlock();
    hooks.Reached(HookPoint::kMergeStepPicked);
    if (grows) storage_->extents->GrowAhead(grow_bytes).PermitUncheckedError();
    s = step.Execute(context, &counters_.merge_into[pick.output_level], &result);
    hooks.Reached(HookPoint::kMergeStepWritten);
    mutex_.Lock();
    --steps_running_;
    // A snapshot that came meanwhile may see what the filter took: the step goes once more, without it.
    const bool again = s.ok() && filters && family->options.compaction_filter != nullptr &&
                       snapshots_.AnyNewerThan(step.snapshots);
    filters = !again;
    if (again) {
      DiscardMerge(result);
      continue;
    }
    NoteMergeSpeed(result, step_begin);
    if (s.ok()) s = InstallMerge(family, result);
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
    storage_->Reclaim();
    progress_.SignalAll();
    work_.SignalAll();
    if (s.ok() && !total.done) s = LetOthersIn(*family, pick);
  }
  family->picker.SetIdle(pick);
  --merges_running_;
  ++space_answers_;
  if (s.ok()) {
    ++merges_;
    ++family->run_changes;
    NoteSpace();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    EndMergeStats(family, total, took, &record);
    family->merge_chooser.NoteMerge(pick.output_level, total.entries_read,
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
MergeStep DBImpl::MakeMergeStep(const ColumnFamily& family, const MergePick& pick, MergeOrder order) const {
  MergeStep step;
  step.output_number = pick.output_number;
  step.output_level = pick.output_level;
  step.snapshots = snapshots_.Sequences();
  step.order = order;
  for (int level = 0; level < family.version->levels(); ++level) {
    for (const PlacedRun& placed : family.version->runs(level)) {
      if (placed.run->number() == pick.output_number) {
        step.output = placed;
      } else if (pick.inputs.count(placed.run->number()) != 0) {
        step.inputs.push_back({level, placed});
      } else if (!step.inputs.empty()) {
        step.older.push_back(placed.run);
      }
    }
  }
  step.step_bytes = StepBytes(family, step);
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
uint64_t DBImpl::StepBytes(const ColumnFamily& family, const MergeStep& step) const {
  const uint64_t extra = family.sizes.ExtraBytes(family.version->bytes());
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
  return std::max(family.sizes.TableBytes(family.version->bytes()),
                  std::min(bytes, storage_->extents->free_bytes() / 2));
}

Status DBImpl::InstallMerge(ColumnFamily* family, const MergeStep::Result& result) {
  if (family->dropped) {
    DiscardMerge(result);
    return Status::ShutdownInProgress("merge cancelled");
  }
  ManifestState next = state_;
  const VersionRef before = family->version;
  const VersionRef version = before->Apply(result.edit);
  Status s = PublishVersion(family, version, &next);
  if (!s.ok()) {
    DiscardMerge(result);
    return s;
  }
  InstallView(family);
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
