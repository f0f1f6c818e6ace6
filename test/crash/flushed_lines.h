// FlushedLines: what each thread has flushed and not fenced yet, as it was when it was flushed.
//
// Thread safety: none; the simulator's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "test/crash/medium.h"

namespace pmlsm::crash {

class FlushedLines {
 public:
  struct Line {
    LinePatch patch;
    uint32_t stamp;
  };
  using Lines = std::vector<Line>;

  // Lives as long as this, so that what a thread left unfenced stays pending when it ends.
  Lines* NewThread() {
    threads_.push_back(std::make_unique<Lines>());
    return threads_.back().get();
  }
  // `from` is aligned to lines, and lies at `place`.
  void Add(Lines* lines, const char* from, size_t bytes, Place place);
  // Those that are not on the medium yet, of all threads, in the order of their flushes.
  Lines Pending(const Medium& medium) const;

 private:
  std::vector<std::unique_ptr<Lines>> threads_;
  uint32_t stamp_ = 0;
};

}  // namespace pmlsm::crash
