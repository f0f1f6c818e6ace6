// The background threads, and publishing. Jobs (db_flush.cc, db_merge.cc) run outside mutex_; their results are
// published under it, one at a time. Space for them: db_space.cc. As users ask for them: db_manual.cc.
//
// Publishing, in order: 1. The job has made tables and descriptors durable. 2. Manifest::Publish. 3. The new
// version and view are installed; what the manifest no longer names is marked obsolete, and its space is
// reused once no view holds it. CRASH before 2: the old state, the job's space is free. After 2: the new
// state.
#include <algorithm>
#include <chrono>

#include "db/db_impl.h"
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
      WaitForWorkOrIdleness();
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
    } else if (merges) {
      WaitForWorkOrIdleness();
    } else {
      work_.Wait(&mutex_);
    }
  }
}

JobContext DBImpl::MakeJobContext() {
  JobContext context;
  context.pool = storage_->pool.get();
  context.extents = storage_->extents.get();
  context.publisher = publisher_.get();
  context.table_options = {options_.comparator, options_.node_bytes, options_.filter_bits_per_key};
  context.table_bytes = sizes_.TableBytes(version_->bytes());
  context.destination = merge_chooser_->destination();
  context.compaction_filter = options_.compaction_filter;
  context.next_table_number = [this] { return next_table_number_.fetch_add(1, std::memory_order_relaxed); };
  context.cancelled = [this] { return cancel_merges_.load(std::memory_order_relaxed); };
  return context;
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

// Each change of the memtables and runs: readers see it, and writers are paced by it.
void DBImpl::InstallView() {
  storage_->views.Install(active_, frozen_, version_);
  UpdatePace();
}

void DBImpl::NoteBackgroundError(const char* what, const Status& error) {
  log_->Write("%s: %s; writes are refused until the DB is opened again", what, error.ToString().c_str());
  if (background_error_.ok()) background_error_ = error;
  write_blocked_.store(true, std::memory_order_release);
  progress_.SignalAll();
}

bool DBImpl::BackgroundIdle() const {
  return frozen_.empty() && !flush_running_ && merges_running_ == 0 && !merge_for_space_ &&
         (options_.disable_auto_compactions || !picker_.Pick(*version_)) && !TombstonesDue();
}

}  // namespace pmlsm
