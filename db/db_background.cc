// The background threads, and publishing. Jobs (db_flush.cc, db_merge.cc) run outside mutex_; their results are
// published under it, one at a time. Space for them: db_space.cc. As users ask for them: db_manual.cc.
//
// Publishing, in order: 1. The job has made tables and descriptors durable. 2. Manifest::Publish. 3. The new
// version and view are installed; what the manifest no longer names is marked obsolete, and its space is
// reused once no view holds it. CRASH before 2: the old state, the job's space is free. After 2: the new
// state.
#include <algorithm>
#include <chrono>

#include "db/column_family_handle.h"
#include "db/db_impl.h"
#include "util/check.h"
#include "util/hooks.h"

namespace pmlsm {

// Thread 0 flushes first; the others only merge, so that a flush never waits behind a merge. A lone thread
// does both, and flushes between the steps of a merge (LetOthersIn).
void DBImpl::BackgroundThread(int index) {
  const bool flushes = index == 0;
  const bool merges = index != 0 || options_.max_background_jobs == 1;
  std::chrono::milliseconds pause = kHousekeepingPause;
  MutexLock lock(&mutex_);
  while (!stopping_) {
    ColumnFamily* const full = flushes ? FamilyToFlush() : nullptr;
    if (full != nullptr) {
      FlushFrozen(full);
      pause = kHousekeepingPause;
      continue;
    }
    if (merges && MergeIfDue()) {
      pause = kHousekeepingPause;
      continue;
    }
    if (!flushes) {
      WaitForWorkOrIdleness();
      continue;
    }
    bool lacks_space = false;
    if (PrepareSpace(&lacks_space)) continue;  // mutex_ was let go: look again
    const bool waiting_for_readers = storage_->Reclaim() != 0;
    progress_.SignalAll();
    if (SpaceCameBack() || RetryForSpace()) continue;
    if (waiting_for_readers || lacks_space || flush_lacks_space_ || merge_lacks_space_) {
      work_.WaitFor(&mutex_, pause);
      pause = std::min(2 * pause, kHousekeepingPauseMax);
    } else if (merges) {
      WaitForWorkOrIdleness();
    } else {
      work_.Wait(&mutex_);
    }
  }
}

JobContext DBImpl::MakeJobContext(ColumnFamily* family) {
  JobContext context;
  context.pool = storage_->pool.get();
  context.extents = storage_->extents.get();
  context.publisher = publisher_.get();
  context.table_options = {family->options.comparator, family->options.node_bytes,
                           family->options.filter_bits_per_key, &storage_->routing};
  context.table_bytes = family->sizes.TableBytes(family->version->bytes());
  context.destination = family->merge_chooser.destination();
  context.compaction_filter = family->options.compaction_filter;
  context.next_table_number = [this] { return next_table_number_.fetch_add(1, std::memory_order_relaxed); };
  context.cancelled = [this, family] {
    return cancel_merges_.load(std::memory_order_relaxed) || family->dropped.load(std::memory_order_relaxed);
  };
  return context;
}

// ---- Publishing ----

// Null if it does not name that family.
FamilyState* DBImpl::FindFamily(ManifestState* state, uint32_t id) {
  const auto found = std::find_if(state->families.begin(), state->families.end(),
                                  [id](const FamilyState& family) { return family.id == id; });
  return found == state->families.end() ? nullptr : &*found;
}

// Publishes *state with the level array of `version` of that family; on success both are in force.
Status DBImpl::PublishVersion(ColumnFamily* family, const VersionRef& version, ManifestState* state) {
  CHECK(!family->dropped);
  family->StoreLevels(*version, FindFamily(state, family->id));
  Status s = PublishState(state);
  if (s.ok()) family->version = version;
  return s;
}

// Publishes *state, without the log segments that are needless by now, which then may be used again.
Status DBImpl::PublishState(ManifestState* state) {
  state->last_sequence = std::max(state->last_sequence, last_sequence_.load(std::memory_order_acquire));
  state->next_run_number = state_.next_run_number;
  state->next_table_number = next_table_number_.load(std::memory_order_relaxed);
  const std::vector<SegmentRecord> retired = RetireSegments(state);
  Status s = manifest_->Publish(state);
  if (!s.ok()) return s;
  state_ = *state;
  for (const SegmentRecord& segment : retired) FreeSegment(segment);
  hooks.Reached(HookPoint::kPublished);
  return s;
}

// Each change of the memtables and runs: readers see it, and writers are paced by it.
void DBImpl::InstallView(ColumnFamily* family) {
  family->InstallView();
  UpdatePace();
}

void DBImpl::NoteBackgroundError(const char* what, const Status& error) {
  log_->Write("%s: %s; writes are refused until the DB is opened again", what, error.ToString().c_str());
  if (background_error_.ok()) background_error_ = error;
  write_blocked_.store(true, std::memory_order_release);
  progress_.SignalAll();
}

// Of live families, and of dropped ones whose CompactRange has yet to notice.
bool DBImpl::AnyMergesPaused() const {
  return std::any_of(families_.begin(), families_.end(),
                     [](const ColumnFamilyRef& family) { return family->merges_paused != 0; }) ||
         std::any_of(handles_.begin(), handles_.end(), [](const ColumnFamilyHandleImpl* handle) {
           return handle->family()->merges_paused != 0;
         });
}

bool DBImpl::BackgroundIdle() const {
  const auto idle = [this](const ColumnFamilyRef& family) NO_THREAD_SAFETY_ANALYSIS {
    const bool merges = !family->options.disable_auto_compactions;
    return family->frozen.empty() && (!merges || !family->picker.Pick(*family->version)) &&
           !TombstonesDue(*family);
  };
  return !flush_running_ && merges_running_ == 0 && !merge_for_space_ &&
         std::all_of(families_.begin(), families_.end(), idle);
}

}  // namespace pmlsm
