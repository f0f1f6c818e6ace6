// DBLock: an exclusive lock on <db>/LOCK, against other processes and against a second open in this one
// (flock belongs to the open file, so each open is a stranger to the others). The kernel drops it when the
// process dies.
//
// Thread safety: none.
#pragma once

#include <string>

#include "pmlsm/status.h"

namespace pmlsm {

class DBLock {
 public:
  DBLock() = default;
  ~DBLock() { Release(); }
  DBLock(const DBLock&) = delete;
  DBLock& operator=(const DBLock&) = delete;

  // Creates the file if needed. IOError with "lock" in it if somebody else holds it.
  Status Acquire(const std::string& path);
  void Release();

 private:
  int fd_ = -1;
};

}  // namespace pmlsm
