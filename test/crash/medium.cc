#include "test/crash/medium.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "test/crash/hooks.h"
#include "util/check.h"

namespace pmlsm::crash {
namespace {

// Smaller files are plain files of the directory (pool.set, LOG, ...): they are never mapped.
constexpr uint64_t kMappedBytesMin = 1 << 20;

char* MapShared(int fd, uint64_t bytes) {
  void* const mapping = RealMap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(mapping != MAP_FAILED);
  return static_cast<char*>(mapping);
}

// Calls visit(begin, end) for the pages of the file that have ever been touched. The others are zero, and stay
// cheap as long as nobody reads them either: most of a pool is such.
template <typename Visit>
void ForTouchedPages(int fd, uint64_t bytes, const Visit& visit) {
  for (off_t end = 0;;) {
    const off_t begin = lseek(fd, end, SEEK_DATA);
    if (begin < 0) return;  // ENXIO: only a hole is left
    end = lseek(fd, begin, SEEK_HOLE);
    CHECK(end > begin);
    visit(static_cast<uint64_t>(begin), std::min(static_cast<uint64_t>(end), bytes));
  }
}

std::string PathOf(int fd) {
  char path[4096];
  const ssize_t n = readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path, sizeof(path));
  return n < 0 ? std::string() : std::string(path, static_cast<size_t>(n));
}

}  // namespace

Medium::Medium(const std::string& live, const std::string& twins) : live_(live), twins_(twins) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(live)) {
    if (entry.is_regular_file() && entry.file_size() >= kMappedBytesMin) Adopt(entry.path());
  }
}

void Medium::Adopt(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  CHECK(fd >= 0);
  const File& file = files_[IndexOf(fd)];
  ForTouchedPages(fd, file.identity.bytes, [&](uint64_t begin, uint64_t end) {
    memcpy(file.durable + begin, file.live + begin, end - begin);
  });
  close(fd);
}

// A file that is met for the first time is durable as zeros of its size: names and sizes are not simulated.
uint32_t Medium::IndexOf(int fd) {
  struct stat info;
  CHECK(fstat(fd, &info) == 0);
  for (uint32_t i = 0; i < files_.size(); ++i) {
    const MediumFile& known = files_[i].identity;
    if (known.device == info.st_dev && known.live_inode == info.st_ino) return i;
  }
  const std::string path = twins_ + "/" + std::to_string(files_.size());
  const int twin = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  CHECK(twin >= 0 && ftruncate(twin, info.st_size) == 0);
  struct stat twin_info;
  CHECK(fstat(twin, &twin_info) == 0);

  File file;
  file.identity = {info.st_dev, info.st_ino, twin_info.st_ino, static_cast<uint64_t>(info.st_size)};
  // The program's descriptor may not be writable; the path may have changed: the kernel knows.
  file.live_fd = open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDWR | O_CLOEXEC);
  CHECK(file.live_fd >= 0);
  file.live = MapShared(file.live_fd, file.identity.bytes);
  file.durable = MapShared(twin, file.identity.bytes);
  file.stamps.resize(file.identity.bytes / kLineBytes);
  close(twin);
  files_.push_back(std::move(file));
  return static_cast<uint32_t>(files_.size() - 1);
}

void Medium::NoteMapping(void* address, size_t bytes, int fd, uint64_t offset) {
  struct stat info;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return;
  if (PathOf(fd).compare(0, live_.size() + 1, live_ + "/") != 0) return;
  const uint32_t file = IndexOf(fd);
  const uint64_t file_bytes = files_[file].identity.bytes;
  CHECK(file_bytes == static_cast<uint64_t>(info.st_size) && offset < file_bytes);
  // Libpmemobj maps a part over all the space it reserves for a set, and later parts on top of that.
  bytes = std::min(bytes, file_bytes - offset);
  mappings_.push_back({static_cast<char*>(address), bytes, {file, offset}});
}

void Medium::DropMapping(void* address, size_t bytes) {
  const char* const begin = static_cast<char*>(address);
  for (size_t i = mappings_.size(); i-- > 0;) {
    if (mappings_[i].address < begin || mappings_[i].address >= begin + bytes) continue;
    mappings_.erase(mappings_.begin() + static_cast<ptrdiff_t>(i));
  }
}

bool Medium::Find(const char* address, size_t* bytes, Place* place) const {
  for (const Mapping& mapping : mappings_) {
    if (address < mapping.address || address >= mapping.address + mapping.bytes) continue;
    const auto skipped = static_cast<uint64_t>(address - mapping.address);
    *place = {mapping.place.file, mapping.place.offset + skipped};
    *bytes = std::min(*bytes, mapping.bytes - skipped);
    return true;
  }
  return false;
}

bool Medium::Commit(const LinePatch& line, uint32_t stamp) {
  if (IsOlder(line, stamp)) return false;
  File& file = files_[line.file];
  file.stamps[line.offset / kLineBytes] = stamp;
  hash_ ^= HashOfLine(line.file, line.offset, file.durable + line.offset);
  hash_ ^= HashOfLine(line.file, line.offset, line.bytes);
  memcpy(file.durable + line.offset, line.bytes, kLineBytes);
  return true;
}

bool Medium::IsOlder(const LinePatch& line, uint32_t stamp) const {
  return stamp < files_[line.file].stamps[line.offset / kLineBytes];
}

bool Medium::Holds(const LinePatch& line) const {
  return memcmp(files_[line.file].durable + line.offset, line.bytes, kLineBytes) == 0;
}

void Medium::AppendDirty(std::vector<LinePatch>* lines, size_t limit) const {
  for (uint32_t i = 0; i < files_.size(); ++i) {
    const File& file = files_[i];
    const auto same = [&file](uint64_t offset, size_t bytes) {
      return memcmp(file.live + offset, file.durable + offset, bytes) == 0;
    };
    ForTouchedPages(file.live_fd, file.identity.bytes, [&](uint64_t begin, uint64_t end) {
      for (uint64_t page = begin; page < end; page += kPageBytes) {
        if (same(page, kPageBytes)) continue;
        for (uint64_t offset = page; offset < page + kPageBytes; offset += kLineBytes) {
          if (same(offset, kLineBytes) || lines->size() == limit) continue;
          LinePatch line = {offset, i, kWholeLine, {}, {}};
          memcpy(line.bytes, file.live + offset, kLineBytes);
          lines->push_back(line);
        }
      }
    });
  }
}

std::vector<MediumFile> Medium::Files() const {
  std::vector<MediumFile> files;
  for (const File& file : files_) files.push_back(file.identity);
  return files;
}

}  // namespace pmlsm::crash
