// Progress: shows on stderr how far a benchmark is, from a thread of its own, which costs the measured ones
// nothing.
//
// On a terminal one line that changes; elsewhere a line now and then.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "util/mutex.h"

namespace pmlsm::bench {

class Progress {
 public:
  // done() is called from another thread until the destructor; total = 0: not known.
  Progress(std::string benchmark, uint64_t total, std::function<uint64_t()> done);
  // Leaves no trace on a terminal.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void Run();
  void Print(uint64_t done, double ops_per_second);

  const std::string benchmark_;
  const uint64_t total_;
  const std::function<uint64_t()> done_;
  const bool on_terminal_;
  bool printed_ = false;  // Run's, then the destructor's

  Mutex mutex_;
  CondVar wake_;
  bool stop_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace pmlsm::bench
