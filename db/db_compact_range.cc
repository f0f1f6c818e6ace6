// CompactRange. Without bounds everything becomes one run. With bounds only what lies inside is touched:
//
// 1. Runs that reach over a bound are cut there, one after the other (run_cut.h). 2. The parts inside are merged
// into the last level in use, like any runs, step by step. 3. The parts on both sides are joined again, and the
// result with the newest run of its level, so that levels have no more runs than before. Each of these is published
// by itself. CRASH or an error in between: more runs than need be, which later merges join; the content is the same.
#include <chrono>
#include <utility>

#include "db/db_impl.h"

namespace pmlsm {
namespace {

// Whether a merge of this one run would only copy.
bool HoldsOnlyNewest(const Run& run, const KeyBounds& bounds, const Comparator* comparator) {
  for (const TableRef& handle : run.tables()) {
    const Table& table = handle->table();
    const Run alone(comparator, run.number(), {handle}, false, "");
    const bool drops = table.header().tombstones != 0 || table.header().entries != table.header().user_keys;
    if (drops && bounds.Overlap(alone)) return false;
  }
  return true;
}

}  // namespace

Status DBImpl::CompactRange(const CompactRangeOptions& options, const Slice* begin, const Slice* end) {
  return CompactFamily(default_family_, options, begin, end);
}

Status DBImpl::CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* handle,
                            const Slice* begin, const Slice* end) {
  ColumnFamily* family = nullptr;
  Status s = FamilyOf(handle, &family);
  return s.ok() ? CompactFamily(family, options, begin, end) : s;
}

Status DBImpl::CompactFamily(ColumnFamily* family, const CompactRangeOptions& options, const Slice* begin,
                             const Slice* end) {
  if (begin != nullptr && end != nullptr && family->options.comparator->Compare(*begin, *end) > 0) {
    return Status::InvalidArgument("CompactRange: begin = 0x" + begin->ToString(true),
                                   "must not be above end = 0x" + end->ToString(true));
  }
  KeyBounds bounds;
  if (begin != nullptr) bounds.begin = begin->ToString();
  if (end != nullptr) bounds.end = end->ToString();
  Status s = FlushFamilies({family}, true);
  if (!s.ok()) return s;
  MutexLock lock(&mutex_);
  ++family->merges_paused;
  while (background_error_.ok() && !closing_ && !family->dropped && !family->picker.idle())
    progress_.Wait(&mutex_);
  s = closing_ ? Status::ShutdownInProgress("merge cancelled") : background_error_;
  if (family->dropped) s = DroppedError(*family);
  auto pick = s.ok() ? family->picker.PickAll(*family->version) : std::nullopt;
  if (pick) {
    pick->alone = options.exclusive_manual_compaction;
    s = bounds.begin || bounds.end ? MergeRange(family, bounds, *pick) : MergeManually(family, *pick);
  }
  --family->merges_paused;
  work_.SignalAll();
  progress_.SignalAll();
  return family->dropped ? DroppedError(*family) : s;
}

// Lets background merges start again as soon as the inputs are taken, unless the merge is to be alone.
Status DBImpl::MergeManually(ColumnFamily* family, const MergePick& pick) {
  if (pick.alone) return MergeRuns(family, pick);
  --family->merges_paused;
  work_.SignalAll();
  Status s = MergeRuns(family, pick);
  ++family->merges_paused;
  return s;
}

// `all`: the merge without bounds.
Status DBImpl::MergeRange(ColumnFamily* family, const KeyBounds& bounds, const MergePick& all) {
  std::vector<RunCut> cuts;
  for (int level = 0; level < family->version->levels(); ++level) {
    for (const PlacedRun& placed : family->version->runs(level)) {
      if (bounds.Overlap(*placed.run)) cuts.push_back({level, placed, bounds, 0, 0, 0});
    }
  }
  if (cuts.empty()) return Status::OK();
  if (cuts.size() == 1 && cuts[0].level == all.output_level && family->options.compaction_filter == nullptr &&
      HoldsOnlyNewest(*cuts[0].run.run, bounds, family->options.comparator)) {
    return Status::OK();
  }
  MergePick pick;
  pick.alone = all.alone;
  pick.source_level = cuts[0].level;
  pick.output_level = all.output_level;
  pick.output_number = state_.next_run_number++;
  Status s = CutRuns(family, all, &cuts);  // 1
  for (const RunCut& cut : cuts) {
    pick.input_levels.insert(cut.level);
    pick.inputs.insert(cut.inside_number);
  }
  if (s.ok()) s = MergeManually(family, pick);  // 2
  if (family->dropped) return s;
  for (const RunCut& cut : cuts) {  // 3
    // After an error the part inside is still there, and may have lost its lower end.
    if (!Join(family, cut.level, {cut.below_number, cut.inside_number, cut.above_number})) {
      Join(family, cut.level, {cut.below_number, cut.above_number});
    }
  }
  JoinOutput(family, pick);
  return s;
}

// Step 1. The runs of `all` are nobody else's meanwhile.
Status DBImpl::CutRuns(ColumnFamily* family, const MergePick& all, std::vector<RunCut>* cuts) {
  family->picker.SetBusy(all);
  ++merges_running_;
  Status s;
  for (RunCut& cut : *cuts) {
    cut.inside_number = cut.run.run->number();
    if (s.ok() && !cut.bounds.Cover(family->options.comparator, *cut.run.run)) s = CutRun(family, &cut);
    cut.run = PlacedRun();  // or its space would be held
  }
  family->picker.SetIdle(all);
  --merges_running_;
  NoteMergeError("compact range", s);
  progress_.SignalAll();
  return s;
}

Status DBImpl::CutRun(ColumnFamily* family, RunCut* cut) {
  Status s = BeginStep(*family);
  if (!s.ok()) return s;
  RunCut job = *cut;
  job.below_number = state_.next_run_number++;
  job.inside_number = state_.next_run_number++;
  job.above_number = state_.next_run_number++;
  const JobContext context = MakeJobContext(family);
  MergeStep::Result result;
  ++steps_running_;
  mutex_.Unlock();
  const auto begin = std::chrono::steady_clock::now();
  s = job.Execute(context, &counters_.merge_into[cut->level], &result);
  const auto took = std::chrono::steady_clock::now() - begin;
  mutex_.Lock();
  --steps_running_;
  if (s.ok()) s = InstallMerge(family, result);
  if (!s.ok()) return s;
  *cut = std::move(job);
  if (result.bytes_written == 0) return s;
  MergeRecord record;
  record.output_level = cut->level;
  record.output_bytes_read = record.bytes_written = result.bytes_written;
  record.entries_in = result.entries_read;
  record.micros = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  family->compaction_stats.NoteMerge(record);
  return s;
}

// Step 3: makes one run of those of `numbers` that are there and idle. False if it did not.
bool DBImpl::Join(ColumnFamily* family, int level, const std::set<uint64_t>& numbers) {
  MergeStep::Result result;
  std::vector<std::shared_ptr<const Run>> runs;
  for (const PlacedRun& placed : family->version->runs(level)) {
    const uint64_t number = placed.run->number();
    if (numbers.count(number) == 0 || family->picker.IsBusy(number)) continue;
    runs.push_back(placed.run);
    result.edit.removed.insert(number);
  }
  if (runs.size() < 2 || !background_error_.ok()) return false;
  PlacedRun joined{JoinRuns(family->options.comparator, state_.next_run_number++, runs), {}};
  if (joined.run == nullptr) return false;
  Status s =
      WriteDescriptor(MakeJobContext(family), *joined.run, &counters_.merge_into[level], &joined.descriptor);
  if (s.ok()) {
    result.new_descriptors.push_back(joined.descriptor);
    result.edit.added.push_back({level, std::move(joined)});
    s = InstallMerge(family, result);
  }
  // Without space the runs stay apart, which is as right.
  if (!s.ok() && !s.IsNoSpace()) NoteBackgroundError("compact range", s);
  return s.ok();
}

// With its neighbour in age and no other: a run counts as new as its newest entry, and must pass no other by that
// may have newer versions of its keys. With the newest of the level only: what comes from above may be older than
// the joined run, and Picker merges the two then, which would not do if older runs lay above it.
void DBImpl::JoinOutput(ColumnFamily* family, const MergePick& pick) {
  const auto& runs = family->version->runs(pick.output_level);
  for (size_t i = 0; i < 2 && runs.size() >= 2; ++i) {
    if (runs[i].run->number() != pick.output_number) continue;
    Join(family, pick.output_level, {pick.output_number, runs[1 - i].run->number()});
    return;
  }
}

}  // namespace pmlsm
