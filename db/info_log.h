// InfoLog: the text file <db>/LOG, where the DB tells what it does and why. The one before it is kept as
// LOG.old.
//
// Thread safety: all methods, from any thread. A line that cannot be written is dropped.
#pragma once

#include <cstdio>
#include <string>

#include "util/mutex.h"

namespace pmlsm {

class InfoLog {
 public:
  explicit InfoLog(const std::string& path);
  ~InfoLog();
  InfoLog(const InfoLog&) = delete;
  InfoLog& operator=(const InfoLog&) = delete;

  void Write(const char* format, ...) __attribute__((format(printf, 2, 3)));

 private:
  Mutex mutex_;
  FILE* file_ GUARDED_BY(mutex_);
};

}  // namespace pmlsm
