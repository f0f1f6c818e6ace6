// The few file-system operations that a pool's files need, with errors that name the path.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "pmlsm/status.h"

namespace pmlsm {

// NoSpace for a full file system, quota or size limit; PathNotFound for ENOENT; IOError otherwise.
Status ErrnoStatus(const std::string& what, int error);

Status PathExists(const std::string& path, bool* exists);
Status RealPath(const std::string& path, std::string* real);
std::string ParentOf(const std::string& path);

// Names in a directory, without "." and "..", unordered.
Status ListDirectory(const std::string& directory, std::vector<std::string>* names);

Status ReadSmallFile(const std::string& path, std::string* content);
// 1. Write `path`.tmp and fsync it. 2. Rename. 3. Fsync the directory. CRASH before 2: the old file, or none.
Status WriteFileAtomically(const std::string& path, const std::string& content);

Status MakeDirectory(const std::string& path);  // fine if it is there
Status Rename(const std::string& from, const std::string& to);
Status FsyncPath(const std::string& path);  // file or directory
// Fine if it is not there.
Status RemoveFile(const std::string& path);
// A directory of files; fine if it is not there.
Status RemoveDirectory(const std::string& path);

// An exclusive flock on a file or directory, as long as it lives. IOError with "lock" if somebody has it.
class FileLock {
 public:
  FileLock() = default;
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  Status Lock(const std::string& path);

 private:
  int fd_ = -1;
};

}  // namespace pmlsm
