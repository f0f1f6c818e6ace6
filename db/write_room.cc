#include "db/write_room.h"

#include <algorithm>

namespace pmlsm {
namespace {

// Until a merge has been measured: merges read and write, and sort, so they are slower than flushes.
constexpr double kMergeSpeedOfFlushSpeed = 0.5;

double MergeSpeed(const WriteLoad& load) {
  return load.merge_speed > 0 ? load.merge_speed : load.flush_speed * kMergeSpeedOfFlushSpeed;
}

// A flush needs a slot of level 0: without one it waits for the merge there.
WriteRoom RoomOfMemtables(const WriteLoad& load) {
  WriteRoom room;
  if (load.frozen < load.frozen_max || load.flush_speed <= 0) return room;
  room.user_bytes = static_cast<uint64_t>(static_cast<double>(load.active_room_bytes) * load.user_share);
  room.seconds =
      std::max(static_cast<double>(load.flush_left_bytes) / load.flush_speed, load.flush_running_seconds / 4);
  if (!load.levels.empty() && load.levels[0].free_slots == 0 && MergeSpeed(load) > 0) {
    room.seconds += static_cast<double>(load.levels[0].debt_bytes) / MergeSpeed(load);
  }
  return room;
}

double Rate(const WriteRoom& room) { return static_cast<double>(room.user_bytes) / room.seconds; }

WriteRoom RoomOfLevels(const WriteLoad& load) {
  WriteRoom least;
  const double speed = MergeSpeed(load);
  if (speed <= 0) return least;
  const uint64_t free_memtables = load.frozen_max - std::min(load.frozen, load.frozen_max);
  double bytes =
      static_cast<double>(load.active_room_bytes + free_memtables * load.memtable_bytes) * load.user_share;
  for (size_t level = 0; level < load.levels.size(); ++level) {
    const WriteLoad::Level& bucket = load.levels[level];
    bytes += static_cast<double>(bucket.room_bytes);
    if (bucket.debt_bytes == 0 || 2 * bucket.free_slots >= bucket.slots) continue;
    WriteRoom room;
    room.user_bytes = static_cast<uint64_t>(bytes);
    room.seconds = (static_cast<double>(bucket.debt_bytes) + static_cast<double>(level) * bytes) / speed;
    if (!least.limits() || Rate(room) < Rate(least)) least = room;
  }
  return least;
}

}  // namespace

WriteRooms FindWriteRooms(const WriteLoad& load) { return {RoomOfMemtables(load), RoomOfLevels(load)}; }

void SpeedMeter::Note(uint64_t bytes, double seconds) {
  if (bytes == 0 || seconds <= 0) return;
  const double now = static_cast<double>(bytes) / seconds;
  speed_ = speed_ == 0 ? now : 0.75 * speed_ + 0.25 * now;
}

}  // namespace pmlsm
