// Checkers: processes that look at images. They are forked before the program opens a pool: libpmemobj lets a
// process open a pool once, and a child inherits what its parent has open. A checker that dies or hangs is
// replaced.
//
// Thread safety: none; the simulator's lock. Made by a process with one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "test/crash/image.h"

namespace pmlsm::crash {

// Looks at the image in `directory`, which is its own to write to. Returns what is wrong; "" = nothing.
using Check = std::function<std::string(const std::string& directory, const void* oracle_before,
                                        const void* oracle_after)>;

class Checkers {
 public:
  // Each works in <scratch>/checker<i>.
  Checkers(int count, const ImagePaths& paths, const std::string& scratch, Check check);
  ~Checkers();
  Checkers(const Checkers&) = delete;
  Checkers& operator=(const Checkers&) = delete;

  // Called with each image that failed, before its memory is used again.
  using OnFailure = std::function<void(const Image& image, const std::string& what)>;

  // Memory for the next image; waits until a checker is free.
  Image* Next(const OnFailure& on_failure);
  // Hands what Next returned last to its checker.
  void Submit();
  // Waits for all verdicts.
  void Drain(const OnFailure& on_failure);

 private:
  struct Verdict {
    int status;  // as of waitpid
    char text[1000];
  };
  struct Checker {
    Image* image;
    Verdict* verdict;
    int to;
    int from;
    pid_t pid;
    bool busy;
  };
  void Fork(Checker* checker, const ImagePaths& paths, const std::string& scratch, const Check& check);
  void Collect(Checker* checker, const OnFailure& on_failure);

  std::vector<Checker> checkers_;
  size_t next_ = 0;
};

}  // namespace pmlsm::crash
