#include "pmem/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace pmlsm {
namespace {

Status WriteAndSync(int fd, const std::string& path, const std::string& content) {
  for (size_t done = 0; done < content.size();) {
    const ssize_t n = write(fd, content.data() + done, content.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(path + ": write", errno);
    done += static_cast<size_t>(n);
  }
  if (fsync(fd) != 0) return ErrnoStatus(path + ": fsync", errno);
  return Status::OK();
}

}  // namespace

Status ErrnoStatus(const std::string& what, int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Status::NoSpace(what, strerror(error));
    case ENOENT:
      return Status::PathNotFound(what, strerror(error));
    default:
      return Status::IOError(what, strerror(error));
  }
}

Status PathExists(const std::string& path, bool* exists) {
  struct stat info;
  *exists = stat(path.c_str(), &info) == 0;
  if (*exists || errno == ENOENT || errno == ENOTDIR) return Status::OK();
  return ErrnoStatus(path + ": stat", errno);
}

Status RealPath(const std::string& path, std::string* real) {
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return ErrnoStatus(path, errno);
  *real = resolved;
  free(resolved);
  return Status::OK();
}

std::string ParentOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status ListDirectory(const std::string& directory, std::vector<std::string>* names) {
  names->clear();
  DIR* stream = opendir(directory.c_str());
  if (stream == nullptr) return ErrnoStatus(directory + ": opendir", errno);
  errno = 0;
  while (const dirent* entry = readdir(stream)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names->push_back(name);
  }
  const int error = errno;
  closedir(stream);
  return error == 0 ? Status::OK() : ErrnoStatus(directory + ": readdir", error);
}

Status ReadSmallFile(const std::string& path, std::string* content) {
  content->clear();
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(path + ": open", errno);
  char buffer[4096];
  Status status;
  for (;;) {
    const ssize_t n = read(fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) status = ErrnoStatus(path + ": read", errno);
    if (n <= 0) break;
    content->append(buffer, static_cast<size_t>(n));
  }
  close(fd);
  return status;
}

Status WriteFileAtomically(const std::string& path, const std::string& content) {
  const std::string temporary = path + ".tmp";
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return ErrnoStatus(temporary + ": open", errno);
  Status status = WriteAndSync(fd, temporary, content);
  close(fd);
  if (status.ok()) status = Rename(temporary, path);
  if (status.ok()) status = FsyncPath(ParentOf(path));
  return status;
}

Status MakeDirectory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return Status::OK();
  return ErrnoStatus(path + ": mkdir", errno);
}

Status Rename(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) == 0) return Status::OK();
  return ErrnoStatus(from + ": rename to " + to, errno);
}

Status FsyncPath(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(path + ": open", errno);
  // EINVAL: the file system has nothing to sync here.
  const Status status =
      fsync(fd) == 0 || errno == EINVAL ? Status::OK() : ErrnoStatus(path + ": fsync", errno);
  close(fd);
  return status;
}

Status RemoveFile(const std::string& path) {
  if (unlink(path.c_str()) == 0 || errno == ENOENT) return Status::OK();
  return ErrnoStatus(path + ": unlink", errno);
}

Status RemoveDirectory(const std::string& path) {
  bool exists = false;
  Status status = PathExists(path, &exists);
  if (!status.ok() || !exists) return status;
  std::vector<std::string> names;
  status = ListDirectory(path, &names);
  for (const std::string& name : names) {
    if (status.ok()) status = RemoveFile(path + "/" + name);
  }
  if (status.ok() && rmdir(path.c_str()) != 0) status = ErrnoStatus(path + ": rmdir", errno);
  return status;
}

FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

Status FileLock::Lock(const std::string& path) {
  fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) return ErrnoStatus(path + ": open", errno);
  if (flock(fd_, LOCK_EX | LOCK_NB) == 0) return Status::OK();
  const int error = errno;
  close(fd_);
  fd_ = -1;
  if (error == EWOULDBLOCK) return Status::IOError(path + ": lock", "the pool is open elsewhere");
  return ErrnoStatus(path + ": flock", error);
}

}  // namespace pmlsm
