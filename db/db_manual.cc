// Flushes that users ask for, and background work that they wait for or hold up.
#include <algorithm>

#include "db/db_impl.h"

namespace pmlsm {

Status DBImpl::Flush(const FlushOptions& options) { return FlushFamilies({default_family_}, options.wait); }

Status DBImpl::Flush(const FlushOptions& options, ColumnFamilyHandle* handle) {
  return Flush(options, std::vector<ColumnFamilyHandle*>{handle});
}

Status DBImpl::Flush(const FlushOptions& options, const std::vector<ColumnFamilyHandle*>& handles) {
  std::vector<ColumnFamily*> families;
  for (const ColumnFamilyHandle* handle : handles) {
    families.push_back(nullptr);
    Status s = FamilyOf(handle, &families.back());
    if (!s.ok()) return s;
  }
  return FlushFamilies(families, options.wait);
}

// One after the other, but from one state of all of them.
Status DBImpl::FlushFamilies(const std::vector<ColumnFamily*>& families, bool wait) {
  Status s = FreezeActive(families);
  if (!wait) return s;
  MutexLock lock(&mutex_);
  for (size_t i = 0; s.ok() && i < families.size(); ++i) s = WaitForFlush(*families[i]);
  return s;
}

// Of the memtables that are frozen now.
Status DBImpl::WaitForFlush(const ColumnFamily& family) {
  if (family.frozen.empty()) return Status::OK();
  const MemTableRef newest = family.frozen.front();
  const auto pending = [&] {
    return std::find(family.frozen.begin(), family.frozen.end(), newest) != family.frozen.end();
  };
  NoteSpace();  // there may be some: tried at once
  work_.SignalAll();
  while (pending() && background_error_.ok() && !family.dropped && !FlushLacksSpace())
    progress_.Wait(&mutex_);
  if (!pending()) return Status::OK();
  if (family.dropped) return DroppedError(family);
  return background_error_.ok() ? Status::NoSpace("memtables cannot be flushed", name_) : background_error_;
}

Status DBImpl::FreezeActive(const std::vector<ColumnFamily*>& families) {
  MutexLock write_lock(&write_mutex_);
  if (write_blocked_.load(std::memory_order_relaxed)) {
    MutexLock lock(&mutex_);
    return closed_ ? Status::Aborted("DB is closed", name_) : background_error_;
  }
  for (const ColumnFamily* family : families) {
    if (family->dropped) return DroppedError(*family);
  }
  const bool any = std::any_of(families.begin(), families.end(),
                               [](const ColumnFamily* family) { return family->active_rep->entries() != 0; });
  if (!any) return Status::OK();
  MutexLock lock(&mutex_);
  return SwitchMemTables(families, 0, ExtentAllocator::Use::kBackground);
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
