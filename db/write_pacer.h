// WritePacer: makes writers pay for merge debt in short pauses, so that they slow down instead of stopping.
//
// Background work says how many bytes may be written in which time (write_room.h); the pacer spreads seven eighths of
// them over it. When the last eighth is being used, because flushes or merges are slower than they were, the rate goes
// down with the square of what is left of it, to kLeastRate. Integrated, a room that lasts t seconds at a rate of r
// lasts for t/7 * (2 * sqrt(r / kLeastRate) - 1) more: 2 t at 60 MB/s.
//
// Bounds: 1. A write of b bytes pauses for at most 1 ms and 1 ms more for each 16 KiB of b. 2. While nothing limits
// writers, a write costs one relaxed load: no clock, no lock. 3. While something does, the clock is read twice each
// kLookBytes, or each half millisecond if that is less.
//
// Thread safety: SetRooms, rate and paces from any thread; Pay by one thread at a time (the DB's write lock).
#pragma once

#include <atomic>
#include <cstdint>

#include "db/write_room.h"
#include "util/mutex.h"

namespace pmlsm {

// Time, as the pacer sees it.
class PacerClock {
 public:
  virtual ~PacerClock() = default;
  virtual uint64_t NowNanos() = 0;
  virtual void SleepNanos(uint64_t nanos) = 0;

  static PacerClock* System();
};

class WritePacer {
 public:
  static constexpr uint64_t kPauseNanos = 1000000;
  // A write pauses once, and once more for each of these.
  static constexpr uint64_t kBytesOfAPause = 16 << 10;
  static constexpr uint64_t kLookBytes = 64 << 10;
  static constexpr uint64_t kLeastRate = 1 << 20;  // bytes a second

  explicit WritePacer(PacerClock* clock = PacerClock::System()) : clock_(clock) {}

  // Takes the place of what was set before.
  void SetRooms(const WriteRooms& rooms);
  bool paces() const { return look_bytes_.load(std::memory_order_relaxed) != 0; }
  // User bytes a second; 0 = no limit.
  uint64_t rate() const;

  // Before a write of that many user bytes, if paces(). Returns how long it has paused, nanoseconds.
  uint64_t Pay(uint64_t user_bytes);

 private:
  uint64_t Rate() const REQUIRES(mutex_);
  void SetLookBytes() REQUIRES(mutex_);

  PacerClock* const clock_;
  std::atomic<uint64_t> look_bytes_{0};  // to be written between two looks at the clock; 0 = no limit

  mutable Mutex mutex_;  // never held in a pause
  WriteRooms rooms_ GUARDED_BY(mutex_);
  uint64_t used_bytes_ GUARDED_BY(mutex_) = 0;  // of both rooms

  // The payer's.
  uint64_t unpaid_bytes_ = 0;
  uint64_t go_on_nanos_ = 0;  // when all that was written so far is paid for
};

}  // namespace pmlsm
