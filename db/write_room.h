// WriteRoom: how much may still be written, and until when, before writers would have to stop.
//
// Writers stop when all memtables are full, which happens when flushes fall behind, or when the slots of a level are
// taken, so that flushes (or the merges above it) wait. So each of them is a bucket: it has room for some bytes, and
// gets more when the flush or merge at hand is done, in a time that follows from the work left and the speed measured.
// Writers that spread the room over that time never meet the end of it:
//
//   memtables  room = the active memtable, once it is the last one; time = what the flush has left / flush speed;
//              a flush that is late is taken to need a quarter of the time that it has run
//   level l    room = free memtables and free slots of the levels 0 to l; time = (debt of l + l * room) / merge speed,
//              as what is written meanwhile is merged l times before it arrives there
//
// A level counts once more than half of its slots are taken, as the memtables do once the last one is in use: bursts
// that they swallow are not held up.
//
// Thread safety: a function of its arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pmlsm {

struct WriteLoad {
  // Memtables, in bytes of DRAM.
  size_t frozen = 0;
  size_t frozen_max = 0;
  uint64_t memtable_bytes = 0;  // when full
  uint64_t active_room_bytes = 0;
  uint64_t flush_left_bytes = 0;  // of the flush that runs, or of the next one
  double flush_running_seconds = 0;
  // User bytes of a byte of memtable.
  double user_share = 1;

  // Levels whose runs take slots, from level 0 on without a gap.
  struct Level {
    size_t slots = 0;
    size_t free_slots = 0;
    uint64_t room_bytes = 0;  // of the runs that fit into the free slots
    uint64_t debt_bytes = 0;  // what merges read before slots come back
  };
  std::vector<Level> levels;

  // Bytes a second; 0 = not known yet.
  double flush_speed = 0;
  double merge_speed = 0;
};

struct WriteRoom {
  uint64_t user_bytes = 0;
  double seconds = 0;  // 0 = no limit

  bool limits() const { return seconds > 0; }
};

struct WriteRooms {
  WriteRoom memtables;
  WriteRoom levels;  // of the level that allows the lowest rate
};
WriteRooms FindWriteRooms(const WriteLoad& load);

// A moving average of bytes a second: three quarters history.
class SpeedMeter {
 public:
  void Note(uint64_t bytes, double seconds);
  double bytes_per_second() const { return speed_; }  // 0 = nothing noted yet

 private:
  double speed_ = 0;
};

}  // namespace pmlsm
