// A pool that is full or about to be: space grown, faulted in and kept at hand ahead of need, and what happens
// when there is none (doc/ARCHITECTURE.md, "A full pool").
#include <algorithm>
#include <chrono>
#include <utility>

#include "db/db_impl.h"

namespace pmlsm {

// ---- Ahead of need ----

// Free space for what writers log, and flushes write, until there is more.
uint64_t DBImpl::SpaceAhead() const { return sizes_.write_buffer_bytes + sizes_.table_bytes; }

// Keeps spare log segments and free extents at hand, so that the writer does not grow the pool or fault in
// pages. True if it got somewhere; *lacks_space if it tried in vain.
bool DBImpl::PrepareSpace(bool* lacks_space) {
  ExtentAllocator* const extents = storage_->extents.get();
  const uint64_t ahead = SpaceAhead();
  const bool wants_spare = spare_segments_.size() < kSpareSegments &&
                           extents->HasRoom(segment_bytes_, ExtentAllocator::Use::kWrite);
  HoldMergeSpace();
  const bool wants_growth =
      extents->free_bytes() < ahead && extents->HasRoom(ahead, ExtentAllocator::Use::kWrite);
  if (!wants_spare && !wants_growth) return false;
  mutex_.Unlock();
  Span span;
  const bool got_spare =
      wants_spare && extents->Allocate(segment_bytes_, ExtentAllocator::Use::kWrite, &span).ok();
  if (got_spare) storage_->pool->Prefault(span);
  const bool grew = wants_growth && extents->GrowAhead(ahead).ok();
  mutex_.Lock();
  if (got_spare) spare_segments_.push_back(span);
  *lacks_space = !got_spare && !grew;
  return got_spare || grew;
}

// A contiguous piece is kept for the merge that finds free space only in small ones: from the time on when half of
// the pool is there, since it is hard to get once the pool cannot grow.
void DBImpl::HoldMergeSpace() {
  ExtentAllocator* const extents = storage_->extents.get();
  if (merge_space_.bytes != 0) return;
  const Pool& pool = *storage_->pool;
  if (pool.pool_bytes() < pool.header().max_pmem_bytes / 2 && !IsPoolAtItsLargest()) return;
  // Without it merges take what they find.
  extents->Allocate(sizes_.merge_space_bytes, ExtentAllocator::Use::kDelete, &merge_space_)
      .PermitUncheckedError();
}

// ---- When there is none ----

// Flushes and merges that found no space are tried again, at first soon, then less and less often. True if it
// is time.
bool DBImpl::RetryForSpace() {
  if (!flush_lacks_space_ && !merge_lacks_space_) return false;
  if (std::chrono::steady_clock::now() < space_retry_at_) return false;
  flush_lacks_space_ = merge_lacks_space_ = false;
  work_.SignalAll();
  return true;
}

void DBImpl::NoteLackOfSpace(const char* what, const Status& error, bool* flag) {
  log_->Write("%s: %s", what, error.ToString().c_str());
  *flag = true;
  room_at_lack_ = RoomBytes();
  space_retry_at_ = std::chrono::steady_clock::now() + space_retry_pause_;
  space_retry_pause_ = std::min(2 * space_retry_pause_, kHousekeepingPauseMax);
  UpdatePace();
}

void DBImpl::NoteSpace() {
  flush_lacks_space_ = merge_lacks_space_ = false;
  flush_tries_without_space_ = 0;
  room_at_lack_ = UINT64_MAX;
  space_retry_pause_ = kHousekeepingPause;
  UpdatePace();
}

// Flushes will get nowhere until space comes back: they have been tried more than once, no merge is at work
// that could make room, and readers have let go of nothing.
bool DBImpl::FlushLacksSpace() {
  constexpr int kTries = 3;
  if (merges_running_ != 0) return false;
  const bool stuck = flush_tries_without_space_ >= kTries || (merge_lacks_space_ && FlushWaitsForSlot());
  return stuck && !SpaceCameBack();
}

// The same for merges.
bool DBImpl::MergeLacksSpace() { return merge_lacks_space_ && merges_running_ == 0 && !SpaceCameBack(); }

// A merge frees nothing while readers hold what it replaces: then the reserve is not for it.
Status DBImpl::CheckSpaceForMerge() {
  if (storage_->Reclaim() == 0) return Status::OK();
  if (RoomBytes() >= sizes_.reserve_bytes) return Status::OK();
  return Status::NoSpace("iterators or pinned slices hold the space of merged runs", name_);
}

// Free, or to be had by growing.
uint64_t DBImpl::RoomBytes() const {
  return storage_->extents->free_bytes() + storage_->pool->GrowableBytes();
}

// Whether there is more room than when a flush or a merge last found no space, what readers have let go
// included: then they are due again.
bool DBImpl::SpaceCameBack() {
  storage_->Reclaim();
  if (room_at_lack_ == UINT64_MAX || RoomBytes() <= room_at_lack_) return false;
  NoteSpace();
  work_.SignalAll();
  return true;
}

bool DBImpl::ReleaseMergeSpace() {
  if (merge_space_.bytes == 0) return false;
  storage_->extents->Free(merge_space_);
  merge_space_ = Span();
  return true;
}

// For a delete that found no space: lets a merge that could make some come to its end. False if there is
// none, or background work is paused.
bool DBImpl::WaitForMergedSpace() {
  SpaceCameBack();
  const uint64_t before = merges_;
  const uint64_t answers = space_answers_;
  merge_for_space_ = true;
  while (space_answers_ == answers && background_error_.ok() && !merge_lacks_space_ && !stopping_ &&
         work_paused_ == 0) {
    work_.SignalAll();
    progress_.Wait(&mutex_);
  }
  return merges_ != before;
}

}  // namespace pmlsm
