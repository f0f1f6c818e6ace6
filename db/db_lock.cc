#include "db/db_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace pmlsm {

Status DBLock::Acquire(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return Status::IOError("cannot open lock file " + path, strerror(errno));
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    close(fd);
    if (error == EWOULDBLOCK) return Status::IOError("lock held: the DB is open already", path);
    return Status::IOError("cannot lock " + path, strerror(error));
  }
  fd_ = fd;
  return Status::OK();
}

void DBLock::Release() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

}  // namespace pmlsm
