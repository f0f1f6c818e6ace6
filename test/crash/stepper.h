// Stepper: two threads of which one runs at a time, in an order that is given: a race becomes a schedule that can be
// enumerated, and comes again.
//
// Code compiled with -fsanitize=thread calls the compiler's race detector at each atomic access. Stepper.cc answers
// these calls, so that the access is a switch point; flushes, fences and yields are others. A thread that yields hands
// over, so that none can spin for ever on what the other has to do.
//
// Thread safety: one thread makes it and calls Run.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "test/crash/hooks.h"

namespace pmlsm::crash {

class Stepper : private Hooks {
 public:
  static constexpr int kThreads = 2;

  struct Schedule {
    int first = 0;                       // thread
    std::vector<uint64_t> preempted_at;  // switch points of the run, ascending, at which the other goes on
  };

  // Flushes and fences go on to the hooks that are in force now. While it exists, it is in force.
  Stepper();
  ~Stepper() override;
  Stepper(const Stepper&) = delete;
  Stepper& operator=(const Stepper&) = delete;

  // body(t) to its end in each thread. Returns how many switch points were passed.
  uint64_t Run(const Schedule& schedule, const std::function<void(int thread)>& body);

  // Of the calling thread, if it is one of a Stepper.
  static void SwitchPoint();
  static void Yield();

 private:
  static constexpr int kNobody = -1;
  // Far beyond what any run takes: the threads wait for each other.
  static constexpr uint64_t kStepsMax = 1000000;

  void Flush(const void* from, size_t bytes) override;
  void Fence() override;
  void Work(int number);
  void Step(bool yields);
  void HandOver(std::unique_lock<std::mutex>* lock);

  Hooks* const behind_;
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  int turn_ = kNobody;
  bool running_[kThreads] = {};
  bool ends_ = false;
  uint64_t steps_ = 0;
  const Schedule* schedule_ = nullptr;
  size_t next_preemption_ = 0;
  const std::function<void(int)>* body_ = nullptr;
  std::vector<std::thread> threads_;
};

}  // namespace pmlsm::crash
