// Switching memtables, and what all of them may hold: DRAM within db_write_buffer_size, and the log within
// max_total_wal_bytes.
//
// Each active memtable has a limit up to which it grows without a look at the others (`memtable_limit`): the size at
// which it is full, or less where families share a budget. There it is raised by a step as long as the limits of all
// memtables together stay within the budget. So writers look at a lock only once in a step.
#include <algorithm>
#include <chrono>

#include "db/db_impl.h"

namespace pmlsm {

// ---- Switching ----

// Before a write to families some of which need a look: those that are full get a new memtable, others more of the
// shared budget. The write has room in the log then.
Status DBImpl::MakeMemTableRoom(const WriteNeeds& needs, uint64_t payload_bytes, ExtentAllocator::Use use) {
  MutexLock lock(&mutex_);
  std::vector<ColumnFamily*> full, growing;
  const auto look = [&](ColumnFamily* family) {
    const size_t entries = family->active_rep->entries();
    if (family->reads->scans.WantsFlush(entries) ||
        (entries != 0 && family->ActiveBytes() >= family->sizes.write_buffer_bytes)) {
      full.push_back(family);
    } else if (entries != 0 && family->ActiveBytes() >= family->memtable_limit) {
      growing.push_back(family);
    }
  };
  if (needs.families == nullptr) {
    look(needs.family);
  } else {
    for (ColumnFamily* family : *needs.families) look(family);
  }
  if (!growing.empty()) {
    Status s = WaitForBudget(growing.size());
    if (!s.ok()) return s;
    ColumnFamily* const largest = FamilyToFreeze();
    const bool counted = std::find(full.begin(), full.end(), largest) != full.end();
    if (largest != nullptr && !counted) full.push_back(largest);
  }
  Status s;
  if (!full.empty()) {
    s = SwitchMemTables(full, payload_bytes, use);
  } else if (!wal_->Fits(payload_bytes)) {
    s = SwitchSegment(payload_bytes, use);
    if (s.ok()) LetGoOfOldLog();
  }
  for (size_t i = 0; s.ok() && i < growing.size(); ++i) RaiseLimit(growing[i]);
  return s;
}

// Freezes the active memtables that hold something, and starts new ones with one new log segment.
Status DBImpl::SwitchMemTables(const std::vector<ColumnFamily*>& families, uint64_t payload_bytes,
                               ExtentAllocator::Use use) {
  Status s;
  for (size_t i = 0; s.ok() && i < families.size(); ++i) s = WaitForMemTableRoom(*families[i]);
  if (s.ok()) s = SwitchSegment(payload_bytes, use);
  if (!s.ok()) return s;
  Freeze(families);
  LetGoOfOldLog();
  return s;
}

// REQUIRES: all that is logged is inserted, and the segment in use is new.
void DBImpl::Freeze(const std::vector<ColumnFamily*>& families) {
  NoteUserShare();
  for (ColumnFamily* family : families) {
    if (family->active_rep->entries() == 0) continue;
    memtable_bytes_at_switch_ -= family->ActiveBytes();
    family->FreezeMemTable(last_sequence_.load(std::memory_order_relaxed));
    family->StartMemTable(wal_->segment().number);
    family->memtable_limit = FirstLimit(*family);
    family->InstallView();
  }
  UpdatePace();
  work_.SignalAll();
}

// Waits until one more memtable may be frozen.
Status DBImpl::WaitForMemTableRoom(const ColumnFamily& family) {
  return WaitForFlushes([&family] { return family.HasMemTableRoom(); });
}

// Until the flushes that it waits for have made room.
Status DBImpl::WaitForFlushes(const std::function<bool()>& room) {
  if (room()) return Status::OK();
  const auto begin = std::chrono::steady_clock::now();
  while (!room() && background_error_.ok() && !FlushLacksSpace()) {
    work_.SignalAll();
    progress_.Wait(&mutex_);
  }
  const auto waited = std::chrono::steady_clock::now() - begin;
  stall_micros_ += std::chrono::duration_cast<std::chrono::microseconds>(waited).count();
  if (!background_error_.ok()) return background_error_;
  return room() ? Status::OK() : Status::NoSpace("memtables cannot be flushed", name_);
}

// ---- The shared budget ----

// Of a memtable that has just been started.
uint64_t DBImpl::FirstLimit(const ColumnFamily& family) const {
  return sizes_.shares_memtables ? 0 : family.sizes.write_buffer_bytes;
}

// What memtables hold and may take up to their limits.
uint64_t DBImpl::ClaimedBytes() const {
  uint64_t bytes = 0;
  for (const ColumnFamilyRef& family : families_) {
    bytes += family->FrozenBytes() + std::max(family->memtable_limit, family->ActiveBytes());
  }
  return bytes;
}

// Half of the budget is for what is being filled, half for what is being flushed: when the first half is taken, the
// family whose memtable is the largest, of those that may be frozen now. Else null.
ColumnFamily* DBImpl::FamilyToFreeze() const {
  uint64_t active = 0;
  ColumnFamily* largest = nullptr;
  for (const ColumnFamilyRef& family : families_) {
    active += family->ActiveBytes();
    if (family->active_rep->entries() == 0 || !family->HasMemTableRoom()) continue;
    if (largest == nullptr || family->ActiveBytes() > largest->ActiveBytes()) largest = family.get();
  }
  return 2 * active > sizes_.memtables_bytes ? largest : nullptr;
}

// Until that many limits may be raised, or, since then waiting would be in vain, nothing is left to be flushed.
Status DBImpl::WaitForBudget(size_t steps) {
  const uint64_t step_bytes = steps * sizes_.limit_step_bytes;
  return WaitForFlushes([this, step_bytes]() NO_THREAD_SAFETY_ANALYSIS {
    return ClaimedBytes() + step_bytes <= sizes_.memtables_bytes || !AnyFrozen();
  });
}

void DBImpl::RaiseLimit(ColumnFamily* family) {
  family->memtable_limit =
      std::min(family->ActiveBytes() + sizes_.limit_step_bytes, family->sizes.write_buffer_bytes);
}

// ---- The log ----

// At the start of a segment, between two writes: what is logged of the empty memtables from now on is in it. So
// a family that is not written to does not hold the log.
void DBImpl::LetGoOfOldLog() {
  for (const ColumnFamilyRef& family : families_) {
    if (family->active_rep->entries() == 0) family->active->first_segment = wal_->segment().number;
  }
  uint64_t log_bytes = 0;
  for (const SegmentRecord& segment : state_.segments) log_bytes += segment.bytes;
  if (log_bytes <= sizes_.log_bytes) return;
  const uint64_t oldest = state_.segments.front().number;
  std::vector<ColumnFamily*> holders;
  for (const ColumnFamilyRef& family : families_) {
    // What is frozen is on its way already.
    const bool holds = family->frozen.empty() && family->OldestSegment() <= oldest;
    if (holds && family->active_rep->entries() != 0) holders.push_back(family.get());
  }
  if (holders.empty()) return;
  log_->Write("log: %.1f MB in %zu segments, %zu families that hold the oldest are flushed",
              static_cast<double>(log_bytes) / (1 << 20), state_.segments.size(), holders.size());
  Freeze(holders);
}

}  // namespace pmlsm
