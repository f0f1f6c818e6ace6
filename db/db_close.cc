// Close. In order: 1. Refuse while anybody reads. 2. End a pause, and cut merges short: what they have published
// stays, the next open goes on from there. 3. Flush the memtables. 4. Stop background work. 5. Publish the exact end
// of the log. 6. Close the pool, or set it adrift if readers outlive the DB object. CRASH before 5: the next open
// replays what was not flushed.
#include <utility>

#include "db/column_family_handle.h"
#include "db/db_impl.h"

namespace pmlsm {

DBImpl::~DBImpl() {
  // Nobody is left to be told.
  CloseImpl(true).PermitUncheckedError();
  OrphanHandles();
}

Status DBImpl::Close() { return CloseImpl(false); }

Status DBImpl::CloseImpl(bool despite_pins) {
  {
    MutexLock lock(&mutex_);
    if (closed_) return Status::OK();
    if (!despite_pins && !snapshots_.empty()) {
      return Status::Aborted(std::to_string(snapshots_.size()) + " snapshots are live", name_);
    }
    if (!despite_pins && storage_->AnyPinned()) {
      return Status::Aborted("iterators or pinned slices are live", name_);
    }
  }
  const bool running = !threads_.empty();  // false if Open failed half way
  EndMerges();
  Status s = running ? FlushForClose() : Status::OK();
  StopBackground();
  MutexLock write_lock(&write_mutex_);
  MutexLock lock(&mutex_);
  if (running && background_error_.ok()) {
    const Status published = PublishCleanEnd();
    if (s.ok()) s = published;
  }
  closed_ = true;
  write_blocked_.store(true, std::memory_order_release);
  for (const ColumnFamilyRef& family : families_) family->Close();
  for (const ColumnFamilyHandleImpl* handle : handles_) handle->family()->Close();  // dropped ones, too
  wal_.reset();
  manifest_.reset();
  publisher_.reset();
  storage_->Reclaim();
  if (storage_->AnyPinned()) {
    Storage::SetAdrift(std::move(storage_));
  } else {
    storage_.reset();
  }
  if (log_ != nullptr) log_->Write("close: %s", s.ToString().c_str());
  return s;
}

void DBImpl::EndMerges() {
  MutexLock lock(&mutex_);
  closing_ = true;
  work_paused_ = 0;
  cancel_merges_ = true;
  work_.SignalAll();
  progress_.SignalAll();
  while (merges_running_ != 0) progress_.Wait(&mutex_);
  cancel_merges_ = false;  // one that a flush needs may still come
}

// A memtable that cannot be flushed for lack of space stays in the log, which is enough; what was written
// without the log is lost then, and the caller hears of it.
Status DBImpl::FlushForClose() {
  std::vector<ColumnFamily*> families;
  {
    MutexLock lock(&mutex_);
    for (const ColumnFamilyRef& family : families_) families.push_back(family.get());
  }
  Status s = FlushFamilies(families, true);
  return s.IsNoSpace() && !unlogged_writes_ ? Status::OK() : s;
}

void DBImpl::StopBackground() {
  {
    MutexLock lock(&mutex_);
    stopping_ = true;
    cancel_merges_ = true;
    work_.SignalAll();
    progress_.SignalAll();
    while (merges_running_ != 0 || AnyMergesPaused()) progress_.Wait(&mutex_);
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

Status DBImpl::PublishCleanEnd() {
  Status s = wal_->Sync();
  if (!s.ok()) return s;
  ManifestState next = state_;
  next.clean_end = wal_->position();
  for (const ColumnFamilyRef& family : families_) {
    const bool all_flushed = family->frozen.empty() && family->active_rep->entries() == 0;
    if (all_flushed) FindFamily(&next, family->id)->oldest_segment = next.next_segment_number;
  }
  return PublishState(&next);
}

}  // namespace pmlsm
