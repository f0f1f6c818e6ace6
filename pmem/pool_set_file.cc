#include "pmem/pool_set_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <vector>

#include "pmem/files.h"
#include "pmem/pmdk_descriptor.h"
#include "pmem/pool_format.h"

namespace pmlsm {
namespace {

constexpr char kSetHead[] = "PMEMPOOLSET\nOPTION SINGLEHDR\n";
constexpr char kPartSuffix[] = ".pmem";
constexpr uint64_t kPageBytes = 4096;

// False for a file that libpmemobj would not take for a part.
bool ParsePartName(const std::string& name, uint64_t* number) {
  const size_t digits = name.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string::npos || name.substr(digits) != kPartSuffix) return false;
  *number = strtoull(name.c_str(), nullptr, 10);
  return true;
}

uint64_t TotalBytes(const std::vector<PoolPart>& parts) {
  uint64_t total = 0;
  for (const PoolPart& part : parts) total += part.bytes;
  return total;
}

// Mode 0 is how libpmemobj marks a part that it has not finished making.
Status MakeReadable(const std::string& directory, PoolPart* part) {
  if (part->readable) return Status::OK();
  const std::string path = directory + "/" + part->name;
  if (chmod(path.c_str(), 0600) != 0) return ErrnoStatus(path + ": chmod", errno);
  part->readable = true;
  return Status::OK();
}

// Data is never thrown away on the word of one unchecked number: only a part without a byte in it goes.
Status IsAllZero(const std::string& path, uint64_t bytes, bool* zero) {
  std::vector<char> buffer(uint64_t{1} << 20);
  *zero = true;
  for (uint64_t offset = 0; offset < bytes && *zero; offset += buffer.size()) {
    const size_t n = std::min<uint64_t>(buffer.size(), bytes - offset);
    Status status = ReadRaw(path, offset, buffer.data(), n);
    if (!status.ok()) return status;
    *zero = buffer[0] == 0 && memcmp(buffer.data(), buffer.data() + 1, n - 1) == 0;
  }
  return Status::OK();
}

// A growth that was killed before libpmemobj recorded the heap's new size.
Status RemoveUnusedTrailingParts(const std::string& directory, uint64_t pool_bytes,
                                 std::vector<PoolPart>* parts) {
  while (parts->size() > 1) {
    PoolPart& last = parts->back();
    const std::string path = directory + "/" + last.name;
    const bool needed = TotalBytes(*parts) - last.bytes < pool_bytes;
    if (needed && last.bytes != 0) break;
    Status status = MakeReadable(directory, &last);
    if (!status.ok()) return status;
    bool zero = false;
    status = IsAllZero(path, last.bytes, &zero);
    if (!status.ok()) return status;
    if (!zero) {
      return Status::Corruption(path + ": part beyond the recorded size of the pool holds data",
                                std::to_string(pool_bytes) + " bytes are recorded");
    }
    status = RemoveFile(path);
    if (!status.ok()) return status;
    parts->pop_back();
  }
  return Status::OK();
}

// A growth that failed leaves a hole in the numbers: libpmemobj does not use a number twice, and at the next
// open would take the hole for a part. Order is what counts.
Status Renumber(const std::string& directory, std::vector<PoolPart>* parts) {
  for (size_t i = 0; i < parts->size(); ++i) {
    const std::string name = PoolPartName(i);
    if ((*parts)[i].name == name) continue;
    Status status = Rename(directory + "/" + (*parts)[i].name, directory + "/" + name);
    if (!status.ok()) return status;
    (*parts)[i].name = name;
  }
  return FsyncPath(directory);
}

Status MissingBytes(const std::string& directory, const std::vector<PoolPart>& parts, uint64_t pool_bytes) {
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].number != i) {
      return Status::IOError(directory + "/" + PoolPartName(i) + ": part is missing");
    }
    if (parts[i].bytes < kPartBytesMin) {
      return Status::IOError(directory + "/" + parts[i].name + ": truncated",
                             std::to_string(parts[i].bytes) + " bytes");
    }
  }
  return Status::IOError(
      directory + ": truncated: a part was cut short or the last one is missing",
      "parts hold " + std::to_string(TotalBytes(parts)) + " of " + std::to_string(pool_bytes) + " bytes");
}

}  // namespace

std::string PoolPartName(uint64_t number) {
  char name[32];
  snprintf(name, sizeof(name), "%06llu%s", static_cast<unsigned long long>(number), kPartSuffix);
  return name;
}

Status ListPoolParts(const std::string& directory, std::vector<PoolPart>* parts) {
  std::vector<std::string> names;
  Status status = ListDirectory(directory, &names);
  if (!status.ok()) return status;
  parts->clear();
  for (const std::string& name : names) {
    PoolPart part;
    if (!ParsePartName(name, &part.number)) continue;
    struct stat info;
    const std::string path = directory + "/" + name;
    if (stat(path.c_str(), &info) != 0) return ErrnoStatus(path + ": stat", errno);
    part.bytes = static_cast<uint64_t>(info.st_size) / kPageBytes * kPageBytes;
    part.readable = (info.st_mode & 0600) == 0600;
    part.name = name;
    parts->push_back(part);
  }
  std::sort(parts->begin(), parts->end(),
            [](const PoolPart& a, const PoolPart& b) { return a.number < b.number; });
  return Status::OK();
}

PoolSetPaths::PoolSetPaths(const std::string& directory)
    : directory(directory),
      set(directory + "/pool.set"),
      parts(directory + "/parts"),
      new_set(directory + "/pool.set.new"),
      new_parts(directory + "/parts.new") {}

Status PoolSetExists(const PoolSetPaths& paths, bool* exists) {
  bool set = false;
  bool unfinished = false;
  Status status = PathExists(paths.parts, exists);
  if (status.ok() && !*exists) {
    status = PathExists(paths.set, &set);
    if (status.ok()) status = PathExists(paths.new_parts, &unfinished);
    *exists = set && !unfinished;
  }
  return status;
}

Status WriteSetFile(const std::string& set, uint64_t bytes, const std::string& parts) {
  if (parts.find_first_of(" \t\n\r\v\f#") != std::string::npos) {
    return Status::InvalidArgument(parts + ": a path with blanks or '#'", "libpmemobj cannot open it");
  }
  return WriteFileAtomically(set, kSetHead + std::to_string(bytes) + " " + parts + "\n");
}

Status RefreshSetFile(const PoolSetPaths& paths) {
  std::string content;
  Status status = ReadSmallFile(paths.set, &content);
  if (!status.ok()) return Status::IOError(paths.set + ": part of the pool is missing", status.getState());
  const size_t head = strlen(kSetHead);
  uint64_t bytes = 0;
  std::string parts;
  std::istringstream line(content.substr(std::min(head, content.size())));
  if (content.compare(0, head, kSetHead) != 0 || !(line >> bytes >> parts)) {
    return Status::Corruption(paths.set + ": not a pool set of pmlsm");
  }
  return parts == paths.parts ? Status::OK() : WriteSetFile(paths.set, bytes, paths.parts);
}

Status RepairParts(const PoolSetPaths& paths) {
  bool exists = false;
  Status status = PathExists(paths.parts, &exists);
  if (!status.ok()) return status;
  if (!exists) return Status::IOError(paths.parts + ": the pool's parts are missing");

  std::vector<PoolPart> parts;
  status = ListPoolParts(paths.parts, &parts);
  if (!status.ok()) return status;
  if (parts.empty() || parts[0].number != 0) {
    return Status::IOError(paths.parts + "/" + PoolPartName(0) + ": part is missing");
  }
  status = MakeReadable(paths.parts, &parts[0]);
  if (!status.ok()) return status;

  const std::string first = paths.parts + "/" + parts[0].name;
  PmdkDescriptor descriptor;
  status = ReadPmdkDescriptor(first, &descriptor);
  if (!status.ok()) return status;
  if (!descriptor.signature) return Status::Corruption(first + ": no libpmemobj header");
  if (descriptor.layout != kPoolLayout) {
    return Status::InvalidArgument(first + ": layout is \"" + descriptor.layout + "\"",
                                   std::string("must be \"") + kPoolLayout + "\"");
  }

  status = RemoveUnusedTrailingParts(paths.parts, descriptor.pool_bytes(), &parts);
  if (!status.ok()) return status;
  if (TotalBytes(parts) < descriptor.pool_bytes()) {
    return MissingBytes(paths.parts, parts, descriptor.pool_bytes());
  }
  for (PoolPart& part : parts) {
    status = MakeReadable(paths.parts, &part);
    if (!status.ok()) return status;
  }
  return Renumber(paths.parts, &parts);
}

Status PoolSetHasRemains(const PoolSetPaths& paths, bool* remains) {
  Status status = PathExists(paths.parts + "/" + PoolPartName(0), remains);
  if (status.ok() && !*remains) status = PathExists(paths.new_parts, remains);
  if (!status.ok() || *remains) return status;
  std::string content;
  // A file that cannot be read is not ours to remove.
  *remains = ReadSmallFile(paths.set, &content).ok() && content.compare(0, strlen(kSetHead), kSetHead) == 0;
  return status;
}

Status RemovePoolSet(const PoolSetPaths& paths) {
  bool exists = false;
  Status status = PoolSetHasRemains(paths, &exists);
  if (!status.ok() || !exists) return status;
  // CRASH after the rename: parts.new/ says that the pool is unfinished, so the rest is only removed again.
  status = PathExists(paths.parts, &exists);
  if (status.ok() && exists) {
    status = RemoveDirectory(paths.new_parts);
    if (status.ok()) status = Rename(paths.parts, paths.new_parts);
    if (status.ok()) status = FsyncPath(paths.directory);
  }
  for (const std::string& file : {paths.set, paths.new_set, paths.set + ".tmp", paths.new_set + ".tmp"}) {
    if (status.ok()) status = RemoveFile(file);
  }
  if (status.ok()) status = RemoveDirectory(paths.new_parts);
  return status;
}

}  // namespace pmlsm
