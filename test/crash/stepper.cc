#include "test/crash/stepper.h"

#include "util/check.h"

namespace pmlsm::crash {
namespace {

thread_local Stepper* stepper_of_thread = nullptr;
thread_local int number_of_thread = 0;

}  // namespace

Stepper::Stepper() : behind_(CurrentHooks()) {
  SetHooks(this);
  for (int t = 0; t < kThreads; ++t) threads_.emplace_back([this, t] { Work(t); });
}

Stepper::~Stepper() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  SetHooks(behind_);
}

uint64_t Stepper::Run(const Schedule& schedule, const std::function<void(int)>& body) {
  std::unique_lock<std::mutex> lock(mutex_);
  schedule_ = &schedule;
  body_ = &body;
  next_preemption_ = 0;
  steps_ = 0;
  for (bool& running : running_) running = true;
  turn_ = schedule.first;
  changed_.notify_all();
  changed_.wait(lock, [this] { return turn_ == kNobody; });
  return steps_;
}

void Stepper::Work(int number) {
  number_of_thread = number;
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ends_ || turn_ == number; });
    if (ends_) return;
    lock.unlock();
    stepper_of_thread = this;
    (*body_)(number);
    stepper_of_thread = nullptr;
    lock.lock();
    running_[number] = false;
    turn_ = running_[1 - number] ? 1 - number : kNobody;
    changed_.notify_all();
  }
}

void Stepper::Step(bool yields) {
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t step = steps_++;
  CHECK(step < kStepsMax);
  const std::vector<uint64_t>& preempted_at = schedule_->preempted_at;
  const bool preempted = next_preemption_ < preempted_at.size() && preempted_at[next_preemption_] == step;
  if (preempted) ++next_preemption_;
  if (preempted || yields) HandOver(&lock);
}

void Stepper::HandOver(std::unique_lock<std::mutex>* lock) {
  const int number = number_of_thread;
  if (!running_[1 - number]) return;
  turn_ = 1 - number;
  changed_.notify_all();
  changed_.wait(*lock, [&] { return turn_ == number; });
}

void Stepper::SwitchPoint() {
  if (stepper_of_thread != nullptr) stepper_of_thread->Step(/*yields=*/false);
}

void Stepper::Yield() {
  if (stepper_of_thread != nullptr) stepper_of_thread->Step(/*yields=*/true);
}

void Stepper::Flush(const void* from, size_t bytes) {
  SwitchPoint();
  behind_->Flush(from, bytes);
}

void Stepper::Fence() {
  SwitchPoint();
  behind_->Fence();
}

}  // namespace pmlsm::crash

using pmlsm::crash::Stepper;

extern "C" {
// What std::this_thread::yield calls.
int sched_yield() noexcept {
  Stepper::Yield();
  return 0;
}

// The calls that a compiler inserts under -fsanitize=thread. They are part of its interface to the race detector's
// runtime, which is not linked; those missing here would be missed by the linker.
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_read_range(void*, size_t) {}
void __tsan_write_range(void*, size_t) {}

#define PMLSM_PLAIN_ACCESS(width)              \
  void __tsan_read##width(void*) {}            \
  void __tsan_write##width(void*) {}           \
  void __tsan_unaligned_read##width(void*) {}  \
  void __tsan_unaligned_write##width(void*) {} \
  void __tsan_volatile_read##width(void*) {}   \
  void __tsan_volatile_write##width(void*) {}
PMLSM_PLAIN_ACCESS(1)
PMLSM_PLAIN_ACCESS(2)
PMLSM_PLAIN_ACCESS(4)
PMLSM_PLAIN_ACCESS(8)
PMLSM_PLAIN_ACCESS(16)
#undef PMLSM_PLAIN_ACCESS

#define PMLSM_ATOMIC_ACCESS(bits, Word)                                                                     \
  Word __tsan_atomic##bits##_load(const volatile Word* at, int) {                                           \
    Stepper::SwitchPoint();                                                                                 \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                           \
  }                                                                                                         \
  void __tsan_atomic##bits##_store(volatile Word* at, Word value, int) {                                    \
    Stepper::SwitchPoint();                                                                                 \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                          \
  }                                                                                                         \
  Word __tsan_atomic##bits##_exchange(volatile Word* at, Word value, int) {                                 \
    Stepper::SwitchPoint();                                                                                 \
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                                \
  }                                                                                                         \
  Word __tsan_atomic##bits##_fetch_add(volatile Word* at, Word value, int) {                                \
    Stepper::SwitchPoint();                                                                                 \
    return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);                                                 \
  }                                                                                                         \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile Word* at, Word* expected, Word value, int,     \
                                                    int) {                                                  \
    Stepper::SwitchPoint();                                                                                 \
    return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);     \
  }                                                                                                         \
  Word __tsan_atomic##bits##_compare_exchange_val(volatile Word* at, Word expected, Word value, int, int) { \
    Stepper::SwitchPoint();                                                                                 \
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);           \
    return expected;                                                                                        \
  }
PMLSM_ATOMIC_ACCESS(8, uint8_t)
PMLSM_ATOMIC_ACCESS(64, uint64_t)
#undef PMLSM_ATOMIC_ACCESS
}
