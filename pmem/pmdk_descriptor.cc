#include "pmem/pmdk_descriptor.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "pmem/files.h"
#include "util/coding.h"

namespace pmlsm {
namespace {

// Device DAX has no read(); its mappings are multiples of its page size.
constexpr uint64_t kDeviceMapBytes = uint64_t{2} << 20;

Status ReadDevice(int fd, const std::string& path, uint64_t offset, void* to, size_t bytes) {
  const uint64_t begin = offset / kDeviceMapBytes * kDeviceMapBytes;
  const uint64_t end = (offset + bytes + kDeviceMapBytes - 1) / kDeviceMapBytes * kDeviceMapBytes;
  void* mapping = mmap(nullptr, end - begin, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(begin));
  if (mapping == MAP_FAILED) return ErrnoStatus(path + ": mmap", errno);
  memcpy(to, static_cast<const char*>(mapping) + (offset - begin), bytes);
  munmap(mapping, end - begin);
  return Status::OK();
}

Status ReadFileAt(int fd, const std::string& path, uint64_t offset, void* to, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n =
        pread(fd, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoStatus(path + ": read", errno);
    if (n == 0) {
      return Status::IOError(path + ": truncated", "it ends at byte " + std::to_string(offset + done) + ", " +
                                                       std::to_string(offset + bytes) + " are needed");
    }
    done += static_cast<size_t>(n);
  }
  return Status::OK();
}

}  // namespace

Status ReadRaw(const std::string& path, uint64_t offset, void* to, size_t bytes) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(path + ": open", errno);
  struct stat info;
  Status status;
  if (fstat(fd, &info) != 0) {
    status = ErrnoStatus(path + ": stat", errno);
  } else {
    status = S_ISCHR(info.st_mode) ? ReadDevice(fd, path, offset, to, bytes)
                                   : ReadFileAt(fd, path, offset, to, bytes);
  }
  close(fd);
  return status;
}

Status ReadPmdkDescriptor(const std::string& path, PmdkDescriptor* descriptor) {
  std::string bytes(kPmdkDescriptorBytes, '\0');
  Status status = ReadRaw(path, 0, bytes.data(), bytes.size());
  if (!status.ok()) return status;
  const char* layout = bytes.data() + kPmdkLayoutOffset;
  descriptor->zero = LoadFixed<uint64_t>(bytes.data()) == 0;
  descriptor->signature = memcmp(bytes.data(), kPmdkSignature, sizeof(kPmdkSignature)) == 0;
  descriptor->layout.assign(layout, strnlen(layout, kPmdkLayoutBytes));
  descriptor->heap_offset = LoadFixed<uint64_t>(bytes.data() + kPmdkHeapOffsetOffset);
  descriptor->heap_bytes = LoadFixed<uint64_t>(bytes.data() + kPmdkHeapSizeOffset);
  descriptor->root_offset = LoadFixed<uint64_t>(bytes.data() + kPmdkRootOffsetOffset);
  return Status::OK();
}

}  // namespace pmlsm
