#include "pmem/device.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace pmlsm {
namespace {

constexpr size_t kProbeBytes = 4096;

// Does MAP_SYNC work for this open file of at least kProbeBytes? Only DAX file systems grant it.
bool MapsSynchronously(int fd) {
  void* mapping = mmap(nullptr, kProbeBytes, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC, fd, 0);
  if (mapping == MAP_FAILED) return false;
  munmap(mapping, kProbeBytes);
  return true;
}

// A directory is judged by a nameless file in it; where the file system has none of those, by a file that is
// unlinked at once.
bool DirectoryMapsSynchronously(const std::string& directory) {
  int fd = open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0) {
    std::string name = directory + "/.pmlsm-probe-XXXXXX";
    fd = mkostemp(name.data(), O_CLOEXEC);
    if (fd < 0) return false;
    unlink(name.c_str());
  }
  const bool works = ftruncate(fd, kProbeBytes) == 0 && MapsSynchronously(fd);
  close(fd);
  return works;
}

bool FileMapsSynchronously(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  const bool works = MapsSynchronously(fd);
  close(fd);
  return works;
}

// libpmem takes any number but 0 as "believe that everything is persistent memory".
bool PmemIsForced() {
  const char* value = getenv("PMEM_IS_PMEM_FORCE");
  return value != nullptr && atoi(value) != 0;
}

}  // namespace

const char* ToString(Medium medium) {
  switch (medium) {
    case Medium::kDax:
      return "DAX";
    case Medium::kTmpfs:
      return "tmpfs (emulated)";
    case Medium::kFile:
      return "plain file (msync)";
  }
  return "unknown";
}

Status DetectMedium(const std::string& path, Medium* medium) {
  struct stat info;
  struct statfs file_system;
  if (stat(path.c_str(), &info) != 0 || statfs(path.c_str(), &file_system) != 0) {
    const int error = errno;
    const std::string what = path + ": cannot find out the medium";
    return error == ENOENT ? Status::PathNotFound(what, strerror(error))
                           : Status::IOError(what, strerror(error));
  }
  if (S_ISCHR(info.st_mode)) {
    *medium = Medium::kDax;
    return Status::OK();
  }
  if (file_system.f_type == TMPFS_MAGIC || file_system.f_type == RAMFS_MAGIC) {
    *medium = Medium::kTmpfs;
    return Status::OK();
  }
  if (S_ISDIR(info.st_mode) ? DirectoryMapsSynchronously(path) : FileMapsSynchronously(path)) {
    *medium = Medium::kDax;
    return Status::OK();
  }
  if (PmemIsForced()) {
    return Status::InvalidArgument(
        path + ": a plain file, and PMEM_IS_PMEM_FORCE is set",
        "libpmem would skip the msync that makes its stores durable; unset the variable");
  }
  *medium = Medium::kFile;
  return Status::OK();
}

Status FileSystemBytes(const std::string& path, uint64_t* total, uint64_t* available) {
  struct statfs file_system;
  if (statfs(path.c_str(), &file_system) != 0) {
    return Status::IOError(path + ": statfs", strerror(errno));
  }
  const uint64_t unit = file_system.f_frsize != 0 ? file_system.f_frsize : file_system.f_bsize;
  *total = file_system.f_blocks * unit;
  *available = file_system.f_bavail * unit;
  return Status::OK();
}

}  // namespace pmlsm
