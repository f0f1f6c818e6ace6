// SeenImages: which images have been checked already, all over a run. Two images are the same if the medium
// would hold the same bytes under the same names, however they came about: what was pending at one fence and
// arrived is what "nothing pending" finds at the next.
//
// Thread safety: none; the simulator's lock.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "test/crash/image.h"
#include "test/crash/medium.h"

namespace pmlsm::crash {

class SeenImages {
 public:
  // Names or sizes of files may have changed: no later image equals an earlier one.
  void NoteFileOperation() { ++file_operations_; }

  struct Verdict {
    bool distinct;  // no image before had these bytes
    bool to_check;  // or not with this oracle
  };
  Verdict Add(const Image& image, const Medium& medium);

 private:
  uint64_t file_operations_ = 0;
  std::unordered_set<uint64_t> images_;
  std::unordered_set<uint64_t> checked_;  // with their oracles
};

}  // namespace pmlsm::crash
