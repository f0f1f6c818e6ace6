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

// The one that allows the lower rate.
WriteRoom Narrower(const WriteRoom& a, const WriteRoom& b) {
  if (!a.limits() || !b.limits()) return a.limits() ? a : b;
  const bool a_is =
      static_cast<double>(a.user_bytes) * b.seconds <= static_cast<double>(b.user_bytes) * a.seconds;
  return a_is ? a : b;
}

}  // namespace

// Before a write, while there is a limit. In a pool that is full, deletes are what makes room: they do not wait.
void DBImpl::Pace(const WriteNeeds& needs) {
  if (write_blocked_.load(std::memory_order_relaxed)) return;
  const bool makes_room =
      needs.only_deletes &&
      !storage_->extents->HasRoom(needs.family->sizes.write_buffer_bytes, ExtentAllocator::Use::kWrite);
  if (makes_room) return;
  const uint64_t nanos = pacer_.Pay(needs.payload_bytes);
  if (nanos != 0) stall_micros_.fetch_add(nanos / 1000, std::memory_order_relaxed);
}

// Where background work has come to a standstill, slowing down would change nothing: writers meet NoSpace, or the
// error, at full speed. Otherwise all writers go at the pace that the family in need sets.
void DBImpl::UpdatePace() {
  const bool stands_still = flush_lacks_space_ || merge_lacks_space_ || !background_error_.ok() || stopping_;
  WriteRooms rooms;
  if (!stands_still && sizes_.shares_memtables) rooms = FindWriteRooms(MakeSharedWriteLoad());
  for (const ColumnFamilyRef& family : families_) {
    if (stands_still) break;
    const WriteRooms own = FindWriteRooms(MakeWriteLoad(*family));
    rooms.memtables = Narrower(rooms.memtables, own.memtables);
    rooms.levels = Narrower(rooms.levels, own.levels);
  }
  pacer_.SetRooms(rooms);
}

// Before memtables are switched: how many user bytes have made up the bytes of memtables since the last time.
void DBImpl::NoteUserShare() {
  const uint64_t user_bytes = user_bytes_written_.load(std::memory_order_relaxed);
  uint64_t memtable_bytes = 0;
  for (const ColumnFamilyRef& family : families_) memtable_bytes += family->active_rep->ApproximateBytes();
  if (memtable_bytes > memtable_bytes_at_switch_) {  // fewer if families were dropped
    user_share_ = std::min(1.0, static_cast<double>(user_bytes - user_bytes_at_switch_) /
                                    static_cast<double>(memtable_bytes - memtable_bytes_at_switch_));
  }
  user_bytes_at_switch_ = user_bytes;
  memtable_bytes_at_switch_ = memtable_bytes;
}

// The budget of all memtables, taken for one that is the last: what it has left once most of it is in use.
WriteLoad DBImpl::MakeSharedWriteLoad() const {
  WriteLoad load;
  uint64_t used = 0;
  uint64_t frozen = 0;
  for (const ColumnFamilyRef& family : families_) {
    used += family->active->rep->ApproximateBytes();
    frozen += family->FrozenBytes();
  }
  used += frozen;
  const bool most = 4 * used > 3 * sizes_.memtables_bytes;
  load.frozen = most && frozen != 0 ? 1 : 0;
  load.frozen_max = 1;
  load.memtable_bytes = sizes_.memtables_bytes;
  load.active_room_bytes = sizes_.memtables_bytes - std::min(used, sizes_.memtables_bytes);
  load.flush_left_bytes = frozen;
  load.user_share = user_share_;
  load.flush_speed = flush_speed_.bytes_per_second();
  return load;
}

WriteLoad DBImpl::MakeWriteLoad(const ColumnFamily& family) const {
  WriteLoad load;
  load.frozen = family.frozen.size();
  load.frozen_max = static_cast<size_t>(family.options.max_write_buffer_number) - 1;
  load.memtable_bytes = family.sizes.write_buffer_bytes;
  const uint64_t active_bytes = family.active->rep->ApproximateBytes();
  load.active_room_bytes = load.memtable_bytes - std::min(active_bytes, load.memtable_bytes);
  load.user_share = user_share_;
  load.flush_speed = flush_speed_.bytes_per_second();
  load.merge_speed = merge_speed_.bytes_per_second() * std::max(merges_running_, 1);
  if (flush_running_) {
    load.flush_running_seconds = SecondsSince(flush_began_);
    const double done = load.flush_speed * load.flush_running_seconds;
    load.flush_left_bytes = flush_bytes_ - std::min(static_cast<uint64_t>(done), flush_bytes_);
  }
  // Behind another family's flush come the own memtables.
  if (flush_family_ != &family) load.flush_left_bytes += family.FrozenBytes();
  if (family.options.disable_auto_compactions) return load;
  const Version& version = *family.version;
  for (int level = 0; level < version.levels() && family.picker.HasSlots(version, level); ++level) {
    WriteLoad::Level bucket;
    bucket.slots = static_cast<size_t>(SlotsPerLevel(family.options.size_ratio));
    bucket.free_slots = bucket.slots - std::min(bucket.slots, version.runs(level).size());
    bucket.room_bytes = family.picker.RoomBytes(version, level);
    bucket.debt_bytes = family.picker.DebtBytes(version, level);
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
