// Medium: for each file of a live directory that is mapped shared, a durable twin that holds what is certain
// to survive a power failure now.
//
// A line gets there by Commit only. Where two threads flushed the same line, the later content wins whatever
// the order of their fences: a flush writes what the line holds, so the medium never goes back to older
// content.
//
// Thread safety: none; the simulator's lock.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "test/crash/lines.h"
#include "util/hash.h"

namespace pmlsm::crash {

struct Place {
  uint32_t file;
  uint64_t offset;
};

class Medium {
 public:
  // Twins are named <twins>/<index>. What the live directory holds already is durable.
  Medium(const std::string& live, const std::string& twins);

  // The program has mapped [offset, offset + bytes) of fd; ignored if it is no file of the live directory.
  void NoteMapping(void* address, size_t bytes, int fd, uint64_t offset);
  void DropMapping(void* address, size_t bytes);

  // Where an address of the program lies, and how many of *bytes lie there in a row: the rest may be in the
  // next part of a pool. False if it is in no file of the medium.
  bool Find(const char* address, size_t* bytes, Place* place) const;

  // `stamp` rises with each flush. False: a newer content of the line is there already.
  bool Commit(const LinePatch& line, uint32_t stamp);
  bool IsOlder(const LinePatch& line, uint32_t stamp) const;
  bool Holds(const LinePatch& line) const;

  // Of all bytes of all files: the exclusive or of what changed, so that it does not depend on the order.
  uint64_t hash() const { return hash_; }
  static uint64_t HashOfLine(uint32_t file, uint64_t offset, const char* bytes) {
    return Hash64(bytes, kLineBytes, offset * kFilesMax + file);
  }
  const char* Line(uint32_t file, uint64_t offset) const { return files_[file].durable + offset; }

  // Appends the lines that differ between the live files and the medium, up to `limit`.
  void AppendDirty(std::vector<LinePatch>* lines, size_t limit) const;

  std::vector<MediumFile> Files() const;

 private:
  struct File {
    MediumFile identity;
    int live_fd;  // the simulator's own, as are the mappings: they outlive the program's
    char* live;
    char* durable;
    std::vector<uint32_t> stamps;  // by line
  };
  struct Mapping {
    char* address;
    size_t bytes;
    Place place;
  };
  void Adopt(const std::string& path);
  uint32_t IndexOf(int fd);

  const std::string live_;
  const std::string twins_;
  std::vector<File> files_;
  std::vector<Mapping> mappings_;
  uint64_t hash_ = 0;  // relative to the lines' first content
};

}  // namespace pmlsm::crash
