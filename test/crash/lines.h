// Cache lines of simulated files, as they travel between the parts of the simulator. Constants and structs
// only.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace pmlsm::crash {

inline constexpr size_t kLineBytes = 64;
inline constexpr size_t kWordBytes = 8;  // stored whole or not at all, if aligned
inline constexpr size_t kPageBytes = 4096;
inline constexpr size_t kFilesMax = 64;
inline constexpr uint8_t kWholeLine = 0xff;

// A line that has reached the medium in this image: those words of `bytes` whose bit is set.
struct LinePatch {
  uint64_t offset;  // in its file
  uint32_t file;    // index in the medium
  uint8_t words;
  uint8_t reserved[3];
  char bytes[kLineBytes];
};

// A file of the medium: who stands for it in the live directory, and who holds its durable bytes.
struct MediumFile {
  dev_t device;
  ino_t live_inode;
  ino_t durable_inode;
  uint64_t bytes;
};

}  // namespace pmlsm::crash
