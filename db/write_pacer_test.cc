#include "db/write_pacer.h"

#include <algorithm>
#include <thread>

#include "gtest/gtest.h"
#include "util/random.h"

namespace pmlsm {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr double kNanosASecond = 1e9;

// Time passes in pauses only, and when told.
class FakeClock final : public PacerClock {
 public:
  uint64_t NowNanos() override {
    ++looks;
    return now;
  }
  void SleepNanos(uint64_t nanos) override {
    ++sleeps;
    longest = std::max(longest, nanos);
    now += nanos + oversleep;
  }

  uint64_t now = uint64_t{1} << 40;
  uint64_t oversleep = 0;
  uint64_t longest = 0;
  uint64_t looks = 0;
  uint64_t sleeps = 0;
};

// Seconds that writing `bytes` in writes of `each` takes.
double SecondsToWrite(WritePacer* pacer, FakeClock* clock, uint64_t bytes, uint64_t each) {
  const uint64_t begin = clock->now;
  for (uint64_t done = 0; done < bytes; done += each) pacer->Pay(each);
  return static_cast<double>(clock->now - begin) / kNanosASecond;
}

TEST(WritePacerTest, WithoutALimitNothingPausesAndNoClockIsRead) {
  FakeClock clock;
  WritePacer pacer(&clock);
  EXPECT_FALSE(pacer.paces());
  EXPECT_EQ(pacer.rate(), 0u);
  EXPECT_EQ(SecondsToWrite(&pacer, &clock, 100 * kMiB, 4096), 0);
  EXPECT_EQ(clock.looks, 0u);
}

TEST(WritePacerTest, RoomIsSpreadOverItsTime) {
  for (const uint64_t each : {uint64_t{100}, uint64_t{5000}, 200 * uint64_t{1024}}) {
    FakeClock clock;
    WritePacer pacer(&clock);
    pacer.SetRooms({{80 * kMiB, 2}, {}});
    EXPECT_TRUE(pacer.paces());
    EXPECT_EQ(pacer.rate(), 35 * kMiB);
    EXPECT_NEAR(SecondsToWrite(&pacer, &clock, 70 * kMiB, each), 2, 0.02) << each;
  }
}

TEST(WritePacerTest, TheLowerOfTwoRatesCounts) {
  FakeClock clock;
  WritePacer pacer(&clock);
  pacer.SetRooms({{80 * kMiB, 1}, {800 * kMiB, 100}});
  EXPECT_EQ(pacer.rate(), 7 * kMiB);
  pacer.SetRooms({{8 * kMiB, 1}, {8000 * kMiB, 1}});
  EXPECT_EQ(pacer.rate(), 7 * kMiB);
}

// A bucket whose rate is the higher one may be empty sooner.
TEST(WritePacerTest, NeitherRoomIsOverdrawn) {
  FakeClock clock;
  WritePacer pacer(&clock);
  pacer.SetRooms({{8 * kMiB, 0.01}, {1000 * kMiB, 10}});
  SecondsToWrite(&pacer, &clock, 8 * kMiB, 1000);
  EXPECT_EQ(pacer.rate(), WritePacer::kLeastRate);
}

TEST(WritePacerTest, WhatIsKeptBackIsGivenOutEverMoreSlowly) {
  FakeClock clock;
  WritePacer pacer(&clock);
  pacer.SetRooms({{80 * kMiB, 1}, {}});
  SecondsToWrite(&pacer, &clock, 70 * kMiB, 1024);
  EXPECT_EQ(pacer.rate(), 70 * kMiB);
  SecondsToWrite(&pacer, &clock, 5 * kMiB, 1024);
  EXPECT_NEAR(static_cast<double>(pacer.rate()), 17.5 * kMiB, 0.5 * kMiB);
  SecondsToWrite(&pacer, &clock, 10 * kMiB, 1024);
  EXPECT_EQ(pacer.rate(), WritePacer::kLeastRate);
}

TEST(WritePacerTest, ARoomLastsForThreeTimesItsTime) {
  FakeClock clock;
  WritePacer pacer(&clock);
  constexpr uint64_t kRoom = 72 * kMiB;
  pacer.SetRooms({{kRoom, 1}, {}});
  ASSERT_EQ(pacer.rate(), 63 * kMiB);
  EXPECT_GT(SecondsToWrite(&pacer, &clock, kRoom, 116), 3);
}

TEST(WritePacerTest, APauseIsBoundedByTheSizeOfItsWrite) {
  Random random(301);
  FakeClock clock;
  WritePacer pacer(&clock);
  for (int i = 0; i < 20000; ++i) {
    if (i % 100 == 0) {
      pacer.SetRooms(
          {{1 + random.Uniform(20 * kMiB), 0.001 * static_cast<double>(1 + random.Uniform(10000))}, {}});
    }
    const uint64_t bytes = random.Uniform(10) == 0 ? random.Uniform(4 * kMiB) : random.Uniform(500);
    clock.longest = 0;
    pacer.Pay(bytes);
    ASSERT_LE(clock.longest, WritePacer::kPauseNanos * (1 + bytes / WritePacer::kBytesOfAPause)) << bytes;
  }
  EXPECT_GT(clock.sleeps, 1000u);
}

TEST(WritePacerTest, PausesThatAreTooLongCountForTheNextOnes) {
  FakeClock clock;
  clock.oversleep = 300000;
  WritePacer pacer(&clock);
  pacer.SetRooms({{80 * kMiB, 2}, {}});
  EXPECT_NEAR(SecondsToWrite(&pacer, &clock, 70 * kMiB, 100), 2, 0.02);
}

TEST(WritePacerTest, IdleTimeIsNotSavedUp) {
  FakeClock clock;
  WritePacer pacer(&clock);
  pacer.SetRooms({{80 * kMiB, 2}, {}});
  SecondsToWrite(&pacer, &clock, 10 * kMiB, 100);
  clock.now += 10000000000;
  EXPECT_NEAR(SecondsToWrite(&pacer, &clock, 35 * kMiB, 100), 1, 0.02);
}

TEST(WritePacerTest, TheClockIsReadTwiceALookAtMost) {
  FakeClock clock;
  WritePacer pacer(&clock);
  pacer.SetRooms({{1600 * kMiB, 8}, {}});
  SecondsToWrite(&pacer, &clock, 64 * kMiB, 100);
  EXPECT_LE(clock.looks, 2 * 64 * kMiB / WritePacer::kLookBytes);
  EXPECT_GT(clock.looks, 0u);
}

TEST(WritePacerTest, ASmallRoomIsNotUsedUpBetweenTwoLooks) {
  FakeClock clock;
  WritePacer pacer(&clock);
  pacer.SetRooms({{32 << 10, 0.0001}, {}});
  SecondsToWrite(&pacer, &clock, 34 << 10, 100);
  EXPECT_EQ(pacer.rate(), WritePacer::kLeastRate);
}

TEST(WritePacerTest, ALimitThatIsLiftedEndsThePauses) {
  FakeClock clock;
  WritePacer pacer(&clock);
  pacer.SetRooms({{kMiB, 10}, {}});
  SecondsToWrite(&pacer, &clock, kMiB, 100);
  pacer.SetRooms({});
  EXPECT_FALSE(pacer.paces());
  EXPECT_EQ(SecondsToWrite(&pacer, &clock, 100 * kMiB, 100), 0);
}

TEST(WritePacerTest, RoomsMayBeSetWhileAWriterPays) {
  WritePacer pacer;
  std::atomic<bool> done{false};
  std::thread background([&] {
    for (uint64_t i = 0; !done; ++i) {
      pacer.SetRooms({{(1 + i % 8) * kMiB, i % 3 == 0 ? 0 : 0.01}, {}});
      const uint64_t rate = pacer.rate();
      EXPECT_TRUE(rate == 0 || rate >= WritePacer::kLeastRate) << rate;
    }
  });
  uint64_t paused = 0;
  for (int i = 0; i < 20000; ++i) {
    if (pacer.paces()) paused += pacer.Pay(1000);
  }
  done = true;
  background.join();
  EXPECT_LT(paused, uint64_t{60} * 1000000000);
}

}  // namespace
}  // namespace pmlsm
