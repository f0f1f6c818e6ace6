#include "db/info_log.h"

#include <sys/time.h>

#include <cstdarg>
#include <ctime>

namespace pmlsm {

InfoLog::InfoLog(const std::string& path) {
  (void)rename(path.c_str(), (path + ".old").c_str());
  file_ = fopen(path.c_str(), "we");
}

InfoLog::~InfoLog() {
  if (file_ != nullptr) fclose(file_);
}

void InfoLog::Write(const char* format, ...) {
  timeval now;
  gettimeofday(&now, nullptr);
  tm local;
  localtime_r(&now.tv_sec, &local);
  char time_text[32];
  strftime(time_text, sizeof(time_text), "%Y/%m/%d-%H:%M:%S", &local);

  MutexLock lock(&mutex_);
  if (file_ == nullptr) return;
  fprintf(file_, "%s.%06ld ", time_text, static_cast<long>(now.tv_usec));
  va_list arguments;
  va_start(arguments, format);
  vfprintf(file_, format, arguments);
  va_end(arguments);
  fputc('\n', file_);
  fflush(file_);
}

}  // namespace pmlsm
