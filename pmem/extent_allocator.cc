#include "pmem/extent_allocator.h"

#include <algorithm>
#include <string>

#include "util/check.h"
#include "util/hooks.h"

namespace pmlsm {
namespace {

Status InjectedNoSpace(uint64_t bytes) {
  return Status::NoSpace("need " + std::to_string(bytes) + " bytes", "injected");
}

}  // namespace

ExtentAllocator::ExtentAllocator(Pool* pool) : pool_(pool), extent_bytes_(pool->header().extent_bytes) {
  MutexLock lock(&mutex_);
  for (const Span& group : pool->Groups()) {
    groups_[group.offset] = group;
    total_bytes_ += group.bytes;
    InsertFree(group.offset, {group.bytes, 0});
  }
}

Status ExtentAllocator::MarkUsed(Span span) {
  const std::string what =
      "span at offset " + std::to_string(span.offset) + " of " + std::to_string(span.bytes) + " bytes";
  MutexLock lock(&mutex_);
  if (GroupOf(span) == nullptr) return Status::Corruption(what, "not whole extents of one group");
  auto at = free_.upper_bound(span.offset);
  if (at == free_.begin()) return Status::Corruption(what, "already in use");
  --at;
  if (at->first + at->second.bytes < span.end()) return Status::Corruption(what, "already in use");
  TakeOut(at, span);
  return Status::OK();
}

Status ExtentAllocator::Allocate(uint64_t bytes, Use use, Span* span) {
  if (hooks.FailAllocation() || bytes > hooks.LargestSpan()) return InjectedNoSpace(bytes);
  return AllocateExactly(bytes, use, span);
}

Status ExtentAllocator::AllocateExactly(uint64_t bytes, Use use, Span* span) {
  const uint64_t whole = RoundUpToExtents(bytes);
  if (whole == 0) return Status::InvalidArgument("extents", std::to_string(bytes) + " bytes");
  {
    MutexLock lock(&mutex_);
    if (TryAllocate(whole, use, span)) return Status::OK();
  }
  return GrowFor(whole, use, span);
}

Status ExtentAllocator::AllocateUpTo(uint64_t bytes, uint64_t least, Use use, Span* span) {
  if (hooks.FailAllocation() || least > hooks.LargestSpan()) return InjectedNoSpace(bytes);
  bytes = std::min(bytes, hooks.LargestSpan());
  Status s = AllocateExactly(bytes, use, span);
  if (!s.IsNoSpace()) return s;
  MutexLock lock(&mutex_);
  if (by_size_.empty()) return s;
  const uint64_t largest = std::min(RoundUpToExtents(bytes), std::get<0>(*by_size_.rbegin()));
  return largest >= least && TryAllocate(largest, use, span) ? Status::OK() : s;
}

// Others may free, or take what was grown, meanwhile: so again until it fits or the pool cannot grow.
Status ExtentAllocator::GrowFor(uint64_t bytes, Use use, Span* span) {
  MutexLock grow_lock(&grow_mutex_);
  for (;;) {
    {
      MutexLock lock(&mutex_);
      if (TryAllocate(bytes, use, span)) return Status::OK();
    }
    Span group;
    Status status = GrowOnce(bytes, &group);
    // A long span may not fit any more where single extents for the reserve still do.
    if (status.IsNoSpace() && bytes > extent_bytes_) {
      bool fits = false;
      {
        MutexLock lock(&mutex_);
        const auto fit = by_size_.lower_bound(SizeKey(bytes, 0, 0));
        fits = fit != by_size_.end();
      }
      if (fits) status = GrowOnce(extent_bytes_, &group);
    }
    if (status.IsNoSpace()) return NoSpace(bytes, use, status);
    if (!status.ok()) return status;
  }
}

Status ExtentAllocator::GrowOnce(uint64_t min_bytes, Span* group) {
  Status status = pool_->Grow(min_bytes, group);
  if (!status.ok()) return status;
  MutexLock lock(&mutex_);
  groups_[group->offset] = *group;
  total_bytes_ += group->bytes;
  InsertFree(group->offset, {group->bytes, clock_});
  return status;
}

Status ExtentAllocator::NoSpace(uint64_t bytes, Use use, const Status& cause) const {
  MutexLock lock(&mutex_);
  std::string what = "need " + std::to_string(bytes) + " bytes; " + std::to_string(free_bytes_) + " of " +
                     std::to_string(total_bytes_) + " are free";
  if (!by_size_.empty()) what += ", the largest span " + std::to_string(std::get<0>(*by_size_.rbegin()));
  if (use == Use::kWrite) what += ", " + std::to_string(reserve_bytes_) + " of them reserved";
  return Status::NoSpace(what, cause.getState());
}

void ExtentAllocator::Free(Span span) {
  MutexLock lock(&mutex_);
  CHECK(span.bytes > 0);
  const Span* group = GroupOf(span);
  CHECK(group != nullptr);
  auto next = free_.lower_bound(span.offset);
  CHECK(next == free_.end() || next->first >= span.end());
  FreeSpan merged = {span.bytes, ++clock_};
  uint64_t offset = span.offset;
  if (next != free_.begin()) {
    auto previous = std::prev(next);
    CHECK(previous->first + previous->second.bytes <= span.offset);
    if (previous->first + previous->second.bytes == span.offset && previous->first >= group->offset) {
      offset = previous->first;
      merged.bytes += previous->second.bytes;
      EraseFree(previous);
    }
  }
  if (next != free_.end() && next->first == span.end() && next->first < group->end()) {
    merged.bytes += next->second.bytes;
    EraseFree(next);
  }
  InsertFree(offset, merged);
}

void ExtentAllocator::SetReserve(uint64_t reserve_bytes, uint64_t least_bytes) {
  MutexLock lock(&mutex_);
  reserve_bytes_ = reserve_bytes;
  least_bytes_ = least_bytes;
}

bool ExtentAllocator::HasRoom(uint64_t bytes, Use use) const {
  const uint64_t whole = RoundUpToExtents(bytes);
  MutexLock lock(&mutex_);
  if (Fits(whole, use)) return true;
  const uint64_t growable = pool_->GrowableBytes();
  const bool span_fits = growable > whole || by_size_.lower_bound(SizeKey(whole, 0, 0)) != by_size_.end();
  return span_fits && EnoughIsFree(whole, growable, use);
}

bool ExtentAllocator::HasRoomInPieces(uint64_t bytes, Use use) const {
  MutexLock lock(&mutex_);
  return EnoughIsFree(RoundUpToExtents(bytes), pool_->GrowableBytes(), use);
}

bool ExtentAllocator::EnoughIsFree(uint64_t bytes, uint64_t growable, Use use) const {
  return free_bytes_ + growable >= bytes + ReserveFor(use);
}

bool ExtentAllocator::PoolIsAtItsMaximum() const {
  return !pool_->can_grow() ||
         pool_->pool_bytes() + pool_->header().group_bytes > pool_->header().max_pmem_bytes;
}

// What must stay free.
uint64_t ExtentAllocator::ReserveFor(Use use) const {
  switch (use) {
    case Use::kWrite:
      return reserve_bytes_;
    case Use::kDelete:
      return PoolIsAtItsMaximum() ? reserve_bytes_ / 2 : std::min(least_bytes_, reserve_bytes_ / 2);
    case Use::kBackground:
      return 0;
  }
  return reserve_bytes_;
}

Status ExtentAllocator::GrowAhead(uint64_t bytes) {
  while (free_bytes() < bytes) {
    Span group;
    {
      MutexLock grow_lock(&grow_mutex_);
      if (free_bytes() >= bytes) break;
      Status status = GrowOnce(extent_bytes_, &group);
      if (!status.ok()) return status;
    }
    // Its extents can be taken already: faulting pages in changes nothing that a writer sees.
    pool_->Prefault(group);
  }
  return Status::OK();
}

uint64_t ExtentAllocator::extent_bytes() const { return extent_bytes_; }

uint64_t ExtentAllocator::free_bytes() const {
  MutexLock lock(&mutex_);
  return free_bytes_;
}

uint64_t ExtentAllocator::used_bytes() const {
  MutexLock lock(&mutex_);
  return total_bytes_ - free_bytes_;
}

void ExtentAllocator::Check() const {
  MutexLock lock(&mutex_);
  CHECK(free_.size() == by_size_.size());
  uint64_t free_sum = 0;
  const Span* last_group = nullptr;
  uint64_t last_end = 0;
  for (const auto& [offset, span] : free_) {
    const Span* group = GroupOf({offset, span.bytes});
    CHECK(group != nullptr);
    CHECK(group != last_group || offset > last_end);
    CHECK(by_size_.count(SizeKey(span.bytes, ~span.freed_at, offset)) == 1);
    free_sum += span.bytes;
    last_group = group;
    last_end = offset + span.bytes;
  }
  CHECK(free_sum == free_bytes_);
  uint64_t total = 0;
  for (const auto& entry : groups_) total += entry.second.bytes;
  CHECK(total == total_bytes_);
}

uint64_t ExtentAllocator::RoundUpToExtents(uint64_t bytes) const {
  return (bytes + extent_bytes_ - 1) / extent_bytes_ * extent_bytes_;
}

bool ExtentAllocator::WouldKeepReserve(uint64_t bytes, Use use) const {
  const uint64_t reserve = ReserveFor(use);
  if (reserve == 0 || free_bytes_ >= bytes + reserve) return true;
  // Room to grow is an estimate: it is relied on only where it is plentiful.
  return pool_->GrowableBytes() >= 2 * (reserve_bytes_ + pool_->header().group_bytes);
}

bool ExtentAllocator::Fits(uint64_t bytes, Use use) const {
  return by_size_.lower_bound(SizeKey(bytes, 0, 0)) != by_size_.end() && WouldKeepReserve(bytes, use);
}

bool ExtentAllocator::TryAllocate(uint64_t bytes, Use use, Span* span) {
  const auto fit = by_size_.lower_bound(SizeKey(bytes, 0, 0));
  if (fit == by_size_.end() || !WouldKeepReserve(bytes, use)) return false;
  span->offset = std::get<2>(*fit);
  span->bytes = bytes;
  TakeOut(free_.find(span->offset), *span);
  return true;
}

const Span* ExtentAllocator::GroupOf(Span span) const {
  auto at = groups_.upper_bound(span.offset);
  if (at == groups_.begin()) return nullptr;
  const Span& group = (--at)->second;
  const bool whole_extents =
      span.bytes > 0 && span.bytes % extent_bytes_ == 0 && (span.offset - group.offset) % extent_bytes_ == 0;
  const bool inside = span.offset < group.end() && span.bytes <= group.end() - span.offset;
  return whole_extents && inside ? &group : nullptr;
}

void ExtentAllocator::InsertFree(uint64_t offset, FreeSpan span) {
  free_[offset] = span;
  by_size_.insert(SizeKey(span.bytes, ~span.freed_at, offset));
  free_bytes_ += span.bytes;
}

void ExtentAllocator::EraseFree(FreeMap::iterator at) {
  by_size_.erase(SizeKey(at->second.bytes, ~at->second.freed_at, at->first));
  free_bytes_ -= at->second.bytes;
  free_.erase(at);
}

void ExtentAllocator::TakeOut(FreeMap::iterator at, Span span) {
  const uint64_t offset = at->first;
  const FreeSpan whole = at->second;
  EraseFree(at);
  if (offset < span.offset) InsertFree(offset, {span.offset - offset, whole.freed_at});
  const uint64_t end = offset + whole.bytes;
  if (span.end() < end) InsertFree(span.end(), {end - span.end(), whole.freed_at});
}

}  // namespace pmlsm
