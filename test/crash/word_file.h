// The file of words that tests of PMwCAS work on, mapped: words, a line each, then the descriptors.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "primitives/pmwcas.h"
#include "util/check.h"

namespace pmlsm::crash {

class WordFile {
 public:
  static constexpr uint64_t kDescriptorsOffset = 4096;
  static constexpr uint64_t kBytes = kDescriptorsOffset + primitives::Pmwcas::kAreaBytes;

  // All of it 0.
  static void Create(const std::string& directory) {
    std::filesystem::create_directory(directory);
    std::ofstream(directory + "/words") << std::string(kBytes, '\0');
  }

  explicit WordFile(const std::string& directory) {
    const int fd = open((directory + "/words").c_str(), O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    void* const mapping = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(mapping != MAP_FAILED);
    close(fd);
    bytes_ = static_cast<char*>(mapping);
  }
  ~WordFile() { munmap(bytes_, kBytes); }
  WordFile(const WordFile&) = delete;
  WordFile& operator=(const WordFile&) = delete;

  char* bytes() { return bytes_; }
  uint64_t* At(uint32_t i) { return reinterpret_cast<uint64_t*>(bytes_) + (1 + i) * uint64_t{8}; }

 private:
  char* bytes_;
};

}  // namespace pmlsm::crash
