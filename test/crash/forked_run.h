// RunForked: a simulated run in a process of its own, since a simulator needs one that has no pool open and
// one thread.
//
// Thread safety: none.
#pragma once

#include <functional>
#include <string>

#include "test/crash/report.h"

namespace pmlsm::crash {

// A fresh directory below /dev/shm, removed with all that is in it by the destructor, unless kept.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  const std::string& path() const { return path_; }
  void Keep() { kept_ = true; }

 private:
  std::string path_;
  bool kept_ = false;
};

// Runs `run` in a child, which fills in the report. A run that dies, hangs for seconds_max or returns a text
// has failed.
Report RunForked(unsigned seconds_max, const std::function<std::string(Report*)>& run);

}  // namespace pmlsm::crash
