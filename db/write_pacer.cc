#include "db/write_pacer.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace pmlsm {
namespace {

constexpr double kNanosASecond = 1e9;
// A pause that the scheduler made too long counts for the next ones, up to this much.
constexpr uint64_t kCreditNanos = 2 * WritePacer::kPauseNanos;
// What large writes leave unpaid is forgotten beyond this: their pauses are bounded, and so are the next ones'.
constexpr uint64_t kOwedNanosMax = 10 * WritePacer::kPauseNanos;

// Bytes a second that a room allows once some of it is used.
double RateOf(const WriteRoom& room, uint64_t used_bytes) {
  constexpr double kNoLimit = 1e15;
  if (!room.limits()) return kNoLimit;
  const uint64_t kept_back = room.user_bytes / 8;
  const uint64_t left = room.user_bytes - std::min(used_bytes, room.user_bytes);
  double rate = static_cast<double>(room.user_bytes - kept_back) / room.seconds;
  if (left < kept_back) {
    const double share = static_cast<double>(left) / static_cast<double>(kept_back);
    rate *= share * share;
  }
  return std::min(rate, kNoLimit);
}

class SystemPacerClock final : public PacerClock {
 public:
  uint64_t NowNanos() override {
    return static_cast<uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
  }
  void SleepNanos(uint64_t nanos) override { std::this_thread::sleep_for(std::chrono::nanoseconds(nanos)); }
};

}  // namespace

PacerClock* PacerClock::System() {
  static SystemPacerClock clock;
  return &clock;
}

void WritePacer::SetRooms(const WriteRooms& rooms) {
  MutexLock lock(&mutex_);
  rooms_ = rooms;
  used_bytes_ = 0;
  SetLookBytes();
}

// Half a pause, so that what one look finds is paid in one; and a small part of each room.
void WritePacer::SetLookBytes() {
  const uint64_t rate = Rate();
  uint64_t bytes = std::min(rate / 2000, kLookBytes);
  for (const WriteRoom* room : {&rooms_.memtables, &rooms_.levels}) {
    if (room->limits()) bytes = std::min(bytes, room->user_bytes / 16);
  }
  look_bytes_.store(rate == 0 ? 0 : std::max<uint64_t>(bytes, 1), std::memory_order_relaxed);
}

uint64_t WritePacer::rate() const {
  MutexLock lock(&mutex_);
  return Rate();
}

uint64_t WritePacer::Rate() const {
  if (!rooms_.memtables.limits() && !rooms_.levels.limits()) return 0;
  const double rate = std::min(RateOf(rooms_.memtables, used_bytes_), RateOf(rooms_.levels, used_bytes_));
  return static_cast<uint64_t>(std::max(rate, static_cast<double>(kLeastRate)));
}

uint64_t WritePacer::Pay(uint64_t user_bytes) {
  unpaid_bytes_ += user_bytes;
  if (unpaid_bytes_ < look_bytes_.load(std::memory_order_relaxed)) return 0;
  uint64_t rate;
  {
    MutexLock lock(&mutex_);
    used_bytes_ += unpaid_bytes_;
    rate = Rate();
    SetLookBytes();
  }
  const uint64_t bytes = unpaid_bytes_;
  unpaid_bytes_ = 0;
  if (rate == 0) return 0;

  const uint64_t now = clock_->NowNanos();
  const uint64_t cost =
      static_cast<uint64_t>(static_cast<double>(bytes) / static_cast<double>(rate) * kNanosASecond);
  go_on_nanos_ = std::max(go_on_nanos_, now - std::min(now, kCreditNanos)) + cost;
  if (go_on_nanos_ <= now) return 0;
  const uint64_t most = kPauseNanos * (1 + user_bytes / kBytesOfAPause);
  clock_->SleepNanos(std::min(go_on_nanos_ - now, most));
  const uint64_t after = clock_->NowNanos();
  go_on_nanos_ = std::min(go_on_nanos_, after + kOwedNanosMax);
  return after - now;
}

}  // namespace pmlsm
