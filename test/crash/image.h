// Image: what a power failure would leave: the live directory's names, the medium's bytes, and the lines that
// happened to arrive. It travels from the simulator to a checker in shared memory, and becomes a directory
// there.
//
// Thread safety: none; one side has it at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "test/crash/hooks.h"
#include "test/crash/lines.h"

namespace pmlsm::crash {

inline constexpr size_t kImageLinesMax = 1 << 17;
inline constexpr size_t kOracleBytesMax = 1024;

struct Image {
  char kind[48];
  uint64_t files;
  MediumFile file[kFilesMax];
  // The program's oracle when the failure struck, and after the lines were looked at: what it had
  // acknowledged by `before` must be there, what it had not started by `after` must not.
  char before[kOracleBytesMax];
  char after[kOracleBytesMax];
  uint64_t lines;
  LinePatch line[kImageLinesMax];  // later ones win
};

struct ImagePaths {
  std::string live;
  std::string twins;
};

// Those words of the line that have arrived, over what the medium holds at `to`.
void ApplyLine(const LinePatch& line, char* to);

// Copies the image to `directory`, which does not exist: plain files, to be kept.
void CopyImage(const Image& image, const ImagePaths& paths, const std::string& directory);

// A checker's view: the directory's large files are links to the medium's twins, mapped privately with the
// image's lines on top, so nothing is copied and the medium stays as it is. What the checker's program stores
// stays there when it unmaps the file and maps it again, until Close.
class ImageMapper : public Hooks {
 public:
  ImageMapper(const ImagePaths& paths, const std::string& directory) : paths_(paths), directory_(directory) {}

  void Open(const Image* image);
  void Close();

  void* Map(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) override;
  int Unmap(void* address, size_t bytes) override;
  ssize_t ReadAt(int fd, void* to, size_t bytes, off_t offset) override;
  // Several checkers share the twins; each has its directory for itself.
  int Lock(int fd, int operation) override { return 0; }

 private:
  struct View {
    uint32_t file;
    uint64_t offset;
    size_t bytes;
    char* address;
    bool mapped;  // by the program; else it waits for the next Map
  };
  bool IndexOf(int fd, uint32_t* file) const;
  static char* MakeRoom(void* address, size_t bytes);
  static char* MakeRoomOutside(const char* begin, const char* end, size_t bytes);
  static void Move(View* view, char* to);

  const ImagePaths paths_;
  const std::string directory_;
  const Image* image_ = nullptr;
  std::vector<View> views_;
};

}  // namespace pmlsm::crash
