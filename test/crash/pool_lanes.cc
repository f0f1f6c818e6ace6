#include "test/crash/pool_lanes.h"

#include <fcntl.h>
#include <libpmem.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "util/check.h"

namespace pmlsm::crash {
namespace {

// Where libpmemobj 1.12 keeps them (pool format 6).
constexpr size_t kDescriptorOffset = 4096;
constexpr size_t kLanesOffset = 5128;
constexpr size_t kChecksumOffset = 6136;

// Fletcher's checksum of 64 bits over words of 32, with the checksum itself taken for 0.
uint64_t DescriptorChecksum(const char* pool) {
  uint32_t low = 0;
  uint32_t high = 0;
  for (size_t at = kDescriptorOffset; at < kChecksumOffset + sizeof(uint64_t); at += sizeof(uint32_t)) {
    uint32_t word = 0;
    if (at < kChecksumOffset) memcpy(&word, pool + at, sizeof(word));
    low += word;
    high += low;
  }
  return uint64_t{high} << 32 | low;
}

}  // namespace

void LimitLanes(uint64_t lanes) { CHECK(setenv("PMEMOBJ_NLANES", std::to_string(lanes).c_str(), 1) == 0); }

void SetLanes(const std::string& part, uint64_t lanes) {
  const int fd = open(part.c_str(), O_RDWR | O_CLOEXEC);
  struct stat info;
  CHECK(fd >= 0 && fstat(fd, &info) == 0);
  const auto bytes = static_cast<size_t>(info.st_size);
  void* const mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(mapping != MAP_FAILED);
  char* const pool = static_cast<char*>(mapping);

  uint64_t now;
  uint64_t checksum;
  memcpy(&now, pool + kLanesOffset, sizeof(now));
  memcpy(&checksum, pool + kChecksumOffset, sizeof(checksum));
  CHECK(lanes > 0 && lanes <= now && checksum == DescriptorChecksum(pool));
  memcpy(pool + kLanesOffset, &lanes, sizeof(lanes));
  checksum = DescriptorChecksum(pool);
  memcpy(pool + kChecksumOffset, &checksum, sizeof(checksum));
  pmem_persist(pool + kDescriptorOffset, kChecksumOffset + sizeof(checksum) - kDescriptorOffset);
  munmap(mapping, bytes);
  close(fd);
}

}  // namespace pmlsm::crash
