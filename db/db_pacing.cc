// Pacing: writers slow down before flushes and merges fall so far behind that they would have to stop
// (doc/ARCHITECTURE.md, "Write pacing"). What may be written is worked out here, in write_room.h, each time that
// memtables or runs change; the pauses are WritePacer's.
#include <algorithm>
#include <chrono>

#include "db/db_impl.h"

namespace pmlsm {
namespace {

double SecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

// Before a write, while there is a limit. In a pool that is full, deletes are what makes room: they do not wait.
void DBImpl::Pace(const WriteNeeds& needs) {
  if (write_blocked_.load(std::memory_order_relaxed)) return;
  const bool makes_room = needs.only_deletes && !storage_->extents->HasRoom(sizes_.write_buffer_bytes,
                                                                            ExtentAllocator::Use::kWrite);
  if (makes_room) return;
  const uint64_t nanos = pacer_.Pay(needs.payload_bytes);
  if (nanos != 0) stall_micros_.fetch_add(nanos / 1000, std::memory_order_relaxed);
}

// Where background work has come to a standstill, slowing down would change nothing: writers meet NoSpace, or the
// error, at full speed.
void DBImpl::UpdatePace() {
  const bool stands_still = flush_lacks_space_ || merge_lacks_space_ || !background_error_.ok() || stopping_;
  pacer_.SetRooms(stands_still ? WriteRooms() : FindWriteRooms(MakeWriteLoad()));
}

WriteLoad DBImpl::MakeWriteLoad() const {
  WriteLoad load;
  load.frozen = frozen_.size();
  load.frozen_max = static_cast<size_t>(options_.max_write_buffer_number) - 1;
  load.memtable_bytes = sizes_.write_buffer_bytes;
  const uint64_t active_bytes = active_->rep->ApproximateBytes();
  load.active_room_bytes = load.memtable_bytes - std::min(active_bytes, load.memtable_bytes);
  load.user_share = user_share_;
  load.flush_speed = flush_speed_.bytes_per_second();
  load.merge_speed = merge_speed_.bytes_per_second() * std::max(merges_running_, 1);
  if (flush_running_) {
    load.flush_running_seconds = SecondsSince(flush_began_);
    const double done = load.flush_speed * load.flush_running_seconds;
    load.flush_left_bytes = flush_bytes_ - std::min(static_cast<uint64_t>(done), flush_bytes_);
  } else {
    for (const MemTableRef& memtable : frozen_) load.flush_left_bytes += memtable->rep->ApproximateBytes();
  }
  if (options_.disable_auto_compactions) return load;
  for (int level = 0; level < version_->levels() && picker_.HasSlots(*version_, level); ++level) {
    WriteLoad::Level bucket;
    bucket.slots = static_cast<size_t>(SlotsPerLevel(options_.size_ratio));
    bucket.free_slots = bucket.slots - std::min(bucket.slots, version_->runs(level).size());
    bucket.room_bytes = picker_.RoomBytes(*version_, level);
    bucket.debt_bytes = picker_.DebtBytes(*version_, level);
    load.levels.push_back(bucket);
  }
  return load;
}

// A step's speed by what it read: debt is counted in bytes of inputs.
void DBImpl::NoteMergeSpeed(const MergeStep::Result& result, std::chrono::steady_clock::time_point begin) {
  if (result.entries_written == 0) return;
  const double read = static_cast<double>(result.bytes_written) * static_cast<double>(result.entries_read) /
                      static_cast<double>(result.entries_written);
  merge_speed_.Note(static_cast<uint64_t>(read), SecondsSince(begin));
}

}  // namespace pmlsm
