// Flushes that users ask for, and background work that they wait for or hold up.
#include <algorithm>

#include "db/db_impl.h"

namespace pmlsm {

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

Status DBImpl::WaitForCompact() {
  MutexLock lock(&mutex_);
  if (closed_) return Status::Aborted("DB is closed", name_);
  while (!BackgroundIdle() && background_error_.ok() && work_paused_ == 0 && !FlushLacksSpace() &&
         !MergeLacksSpace()) {
    work_.SignalAll();
    progress_.Wait(&mutex_);
  }
  if (!background_error_.ok() || BackgroundIdle()) return background_error_;
  if (work_paused_ != 0) return Status::Aborted("background work is paused", name_);
  return Status::NoSpace("flushes or merges wait for space", name_);
}

Status DBImpl::PauseBackgroundWork() {
  MutexLock lock(&mutex_);
  if (closed_) return Status::Aborted("DB is closed", name_);
  ++work_paused_;
  progress_.SignalAll();  // who waits for a merge
  while (flush_running_ || steps_running_ != 0) progress_.Wait(&mutex_);
  return Status::OK();
}

Status DBImpl::ContinueBackgroundWork() {
  MutexLock lock(&mutex_);
  if (closed_) return Status::Aborted("DB is closed", name_);
  if (work_paused_ == 0) {
    return Status::InvalidArgument("ContinueBackgroundWork", "must follow a PauseBackgroundWork");
  }
  if (--work_paused_ == 0) work_.SignalAll();
  return Status::OK();
}

}  // namespace pmlsm
