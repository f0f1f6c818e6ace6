#include "db/write_room.h"

#include "gtest/gtest.h"

namespace pmlsm {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// Memtables of 16 MiB, flushes of 200 MiB/s, merges of 100 MiB/s, level 0 half full.
WriteLoad ALoad() {
  WriteLoad load;
  load.frozen_max = 3;
  load.memtable_bytes = 16 * kMiB;
  load.active_room_bytes = 16 * kMiB;
  load.flush_speed = 200.0 * kMiB;
  load.merge_speed = 100.0 * kMiB;
  load.levels = {{16, 8, 8 * 16 * kMiB, 0}, {16, 16, 16 * 128 * kMiB, 0}};
  return load;
}

TEST(WriteRoomTest, NothingLimitsWritesUntilTheLastMemtableIsInUse) {
  WriteLoad load = ALoad();
  load.frozen = 2;
  load.flush_left_bytes = 32 * kMiB;
  EXPECT_FALSE(FindWriteRooms(load).memtables.limits());
  load.frozen = 3;
  const WriteRoom room = FindWriteRooms(load).memtables;
  EXPECT_EQ(room.user_bytes, 16 * kMiB);
  EXPECT_DOUBLE_EQ(room.seconds, 32.0 / 200);
}

TEST(WriteRoomTest, RoomInMemtablesCountsInUserBytes) {
  WriteLoad load = ALoad();
  load.frozen = 3;
  load.flush_left_bytes = 16 * kMiB;
  load.user_share = 0.25;
  EXPECT_EQ(FindWriteRooms(load).memtables.user_bytes, 4 * kMiB);
}

TEST(WriteRoomTest, ALateFlushNeedsTimeStill) {
  WriteLoad load = ALoad();
  load.frozen = 3;
  load.flush_left_bytes = 0;
  load.flush_running_seconds = 0.4;
  EXPECT_DOUBLE_EQ(FindWriteRooms(load).memtables.seconds, 0.1);
}

TEST(WriteRoomTest, AFlushWithoutASlotWaitsForTheMergeOfLevel0) {
  WriteLoad load = ALoad();
  load.frozen = 3;
  load.flush_left_bytes = 20 * kMiB;
  load.levels[0] = {16, 0, 0, 50 * kMiB};
  const WriteRooms rooms = FindWriteRooms(load);
  EXPECT_DOUBLE_EQ(rooms.memtables.seconds, 0.1 + 0.5);
  EXPECT_EQ(rooms.levels.user_bytes, 16 * kMiB);
  EXPECT_DOUBLE_EQ(rooms.levels.seconds, 0.5);
}

TEST(WriteRoomTest, ALevelThatIsNotMoreThanHalfFullLimitsNothing) {
  WriteLoad load = ALoad();
  load.levels[0].debt_bytes = 128 * kMiB;
  EXPECT_FALSE(FindWriteRooms(load).levels.limits());
  load.levels[0].free_slots = 7;
  EXPECT_TRUE(FindWriteRooms(load).levels.limits());
  load.levels[0].debt_bytes = 0;
  EXPECT_FALSE(FindWriteRooms(load).levels.limits());
}

TEST(WriteRoomTest, RoomOfALevelIsFreeSlotsAndMemtablesUntilItsMergeIsDone) {
  WriteLoad load = ALoad();
  load.frozen = 1;
  load.active_room_bytes = 6 * kMiB;
  load.levels[0] = {16, 4, 64 * kMiB, 100 * kMiB};
  const WriteRoom room = FindWriteRooms(load).levels;
  EXPECT_EQ(room.user_bytes, (6 + 2 * 16 + 64) * kMiB);
  EXPECT_DOUBLE_EQ(room.seconds, 1);
}

// What fills level 1 has been merged once: that takes a part of the speed.
TEST(WriteRoomTest, ALowerLevelSharesTheMergesWithTheLevelsAbove) {
  WriteLoad load = ALoad();
  load.frozen = 3;
  load.active_room_bytes = 0;
  load.levels[0] = {16, 16, 200 * kMiB, 0};
  load.levels[1] = {16, 4, 300 * kMiB, 1000 * kMiB};
  const WriteRoom room = FindWriteRooms(load).levels;
  EXPECT_EQ(room.user_bytes, 500 * kMiB);
  EXPECT_DOUBLE_EQ(room.seconds, (1000.0 + 500.0) / 100);
}

TEST(WriteRoomTest, TheLevelOfTheLowestRateCounts) {
  WriteLoad load = ALoad();
  load.levels[0] = {16, 4, 64 * kMiB, 10 * kMiB};
  load.levels[1] = {16, 2, 256 * kMiB, 4000 * kMiB};
  EXPECT_GT(FindWriteRooms(load).levels.seconds, 40);
  load.levels[0].debt_bytes = 100000 * kMiB;
  EXPECT_DOUBLE_EQ(FindWriteRooms(load).levels.seconds, 1000);
}

TEST(WriteRoomTest, MergesNotMeasuredYetAreTakenForHalfAsFastAsFlushes) {
  WriteLoad load = ALoad();
  load.merge_speed = 0;
  load.levels[0] = {16, 4, 64 * kMiB, 100 * kMiB};
  EXPECT_DOUBLE_EQ(FindWriteRooms(load).levels.seconds, 1);
  load.flush_speed = 0;
  load.frozen = 3;
  EXPECT_FALSE(FindWriteRooms(load).levels.limits());
  EXPECT_FALSE(FindWriteRooms(load).memtables.limits());
}

TEST(SpeedMeterTest, FollowsWhatIsNotedByQuarters) {
  SpeedMeter meter;
  EXPECT_EQ(meter.bytes_per_second(), 0);
  meter.Note(100, 1);
  EXPECT_DOUBLE_EQ(meter.bytes_per_second(), 100);
  meter.Note(100, 0.5);
  EXPECT_DOUBLE_EQ(meter.bytes_per_second(), 125);
  meter.Note(0, 1);
  meter.Note(100, 0);
  EXPECT_DOUBLE_EQ(meter.bytes_per_second(), 125);
}

}  // namespace
}  // namespace pmlsm
