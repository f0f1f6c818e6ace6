// Mutex, MutexLock and CondVar with clang's thread-safety annotations (checked by --config=clang).
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define PMLSM_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define PMLSM_THREAD_ANNOTATION(x)
#endif
#define GUARDED_BY(x) PMLSM_THREAD_ANNOTATION(guarded_by(x))
#define REQUIRES(...) PMLSM_THREAD_ANNOTATION(exclusive_locks_required(__VA_ARGS__))
#define EXCLUDES(...) PMLSM_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define ACQUIRE(...) PMLSM_THREAD_ANNOTATION(exclusive_lock_function(__VA_ARGS__))
#define RELEASE(...) PMLSM_THREAD_ANNOTATION(unlock_function(__VA_ARGS__))
#define CAPABILITY(x) PMLSM_THREAD_ANNOTATION(lockable)
#define SCOPED_CAPABILITY PMLSM_THREAD_ANNOTATION(scoped_lockable)
#define NO_THREAD_SAFETY_ANALYSIS PMLSM_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace pmlsm {

class CAPABILITY("mutex") Mutex {
 public:
  void Lock() ACQUIRE() { mutex_.lock(); }
  void Unlock() RELEASE() { mutex_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_->Lock(); }
  ~MutexLock() RELEASE() { mutex_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mutex_;
};

// All waits are with the mutex held, and come back with it held.
class CondVar {
 public:
  void Wait(Mutex* mutex) NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  void WaitFor(Mutex* mutex, std::chrono::milliseconds limit) NO_THREAD_SAFETY_ANALYSIS {
    std::unique_lock<std::mutex> lock(mutex->mutex_, std::adopt_lock);
    condition_.wait_for(lock, limit);
    lock.release();
  }
  void Signal() { condition_.notify_one(); }
  void SignalAll() { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace pmlsm
