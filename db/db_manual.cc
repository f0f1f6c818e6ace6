// Flushes and merges that users ask for or wait for.
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
