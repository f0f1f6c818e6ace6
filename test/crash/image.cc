#include "test/crash/image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "util/check.h"

namespace pmlsm::crash {
namespace {

namespace fs = std::filesystem;

constexpr int kMapKinds = 0xf;  // MAP_SHARED, MAP_PRIVATE, MAP_SHARED_VALIDATE

// Applies what falls into [offset, offset + bytes) of the file, whole lines or parts of them.
void ApplyLines(const Image& image, uint32_t file, uint64_t offset, size_t bytes, char* to) {
  for (uint64_t i = 0; i < image.lines; ++i) {
    const LinePatch& line = image.line[i];
    if (line.file != file || line.offset + kLineBytes <= offset || line.offset >= offset + bytes) continue;
    char content[kLineBytes];
    const uint64_t begin = std::max(line.offset, offset);
    const uint64_t end = std::min(line.offset + kLineBytes, offset + bytes);
    memcpy(content + (begin - line.offset), to + (begin - offset), end - begin);
    ApplyLine(line, content);
    memcpy(to + (begin - offset), content + (begin - line.offset), end - begin);
  }
}

int FileOf(const Image& image, const struct stat& info) {
  for (uint64_t i = 0; i < image.files; ++i) {
    if (image.file[i].device == info.st_dev && image.file[i].live_inode == info.st_ino)
      return static_cast<int>(i);
  }
  return -1;
}

// Empty pages stay holes: most of a pool is empty.
void CopyPart(const Image& image, uint32_t file, const std::string& twin, mode_t mode,
              const std::string& to) {
  static constexpr char kEmptyPage[kPageBytes] = {};
  const uint64_t bytes = image.file[file].bytes;
  const int from_fd = open(twin.c_str(), O_RDONLY | O_CLOEXEC);
  const int to_fd = open(to.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  CHECK(from_fd >= 0 && to_fd >= 0 && ftruncate(to_fd, static_cast<off_t>(bytes)) == 0);
  char* const copy =
      static_cast<char*>(RealMap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, to_fd, 0));
  CHECK(copy != MAP_FAILED);
  char page[kPageBytes];
  for (uint64_t at = 0; at < bytes; at += kPageBytes) {
    const ssize_t n = RealReadAt(from_fd, page, kPageBytes, static_cast<off_t>(at));
    CHECK(n > 0);
    if (memcmp(page, kEmptyPage, static_cast<size_t>(n)) != 0)
      memcpy(copy + at, page, static_cast<size_t>(n));
  }
  ApplyLines(image, file, 0, bytes, copy);
  RealUnmap(copy, bytes);
  CHECK(fchmod(to_fd, mode) == 0);
  close(from_fd);
  close(to_fd);
}

// The live directory's tree; LOG is of no use to anybody. Names that vanish meanwhile belong to threads that
// are about to meet the simulator's lock.
void BuildTree(const Image& image, const ImagePaths& paths, const std::string& directory, bool may_link) {
  fs::create_directories(directory);
  std::error_code gone;
  for (fs::recursive_directory_iterator it(paths.live, gone), end; !gone && it != end; it.increment(gone)) {
    const std::string to = directory + it->path().string().substr(paths.live.size());
    struct stat info;
    if (lstat(it->path().c_str(), &info) != 0) continue;
    if (S_ISDIR(info.st_mode)) {
      fs::create_directory(to);
      continue;
    }
    if (it->path().filename() == "LOG" || it->path().filename() == "LOG.old") continue;
    const int file = FileOf(image, info);
    if (file < 0) {
      fs::copy_file(it->path(), to, gone);
      continue;
    }
    const std::string twin = paths.twins + "/" + std::to_string(file);
    // A mode is a twin's own; an unfinished part's differs.
    const mode_t mode = info.st_mode & 0777;
    if (may_link && mode == 0600) {
      CHECK(link(twin.c_str(), to.c_str()) == 0);
    } else {
      CopyPart(image, static_cast<uint32_t>(file), twin, mode, to);
    }
  }
}

}  // namespace

void ApplyLine(const LinePatch& line, char* to) {
  for (size_t word = 0; word < kLineBytes / kWordBytes; ++word) {
    if ((line.words >> word & 1) == 0) continue;
    memcpy(to + word * kWordBytes, line.bytes + word * kWordBytes, kWordBytes);
  }
}

void CopyImage(const Image& image, const ImagePaths& paths, const std::string& directory) {
  const HooksSuspended suspended;
  BuildTree(image, paths, directory, false);
}

void ImageMapper::Open(const Image* image) {
  const HooksSuspended suspended;
  CHECK(views_.empty());
  image_ = image;
  fs::remove_all(directory_);
  BuildTree(*image, paths_, directory_, true);
}

void ImageMapper::Close() {
  const HooksSuspended suspended;
  for (const View& view : views_) RealUnmap(view.address, view.bytes);
  views_.clear();
  fs::remove_all(directory_);
  image_ = nullptr;
}

bool ImageMapper::IndexOf(int fd, uint32_t* file) const {
  struct stat info;
  if (image_ == nullptr || fd < 0 || fstat(fd, &info) != 0) return false;
  for (uint32_t i = 0; i < image_->files; ++i) {
    if (image_->file[i].device != info.st_dev || image_->file[i].durable_inode != info.st_ino) continue;
    *file = i;
    return true;
  }
  return false;
}

// Room for `bytes`: at `address`, or anywhere if that is null.
char* ImageMapper::MakeRoom(void* address, size_t bytes) {
  const int fixed = address == nullptr ? 0 : MAP_FIXED;
  void* const room = RealMap(address, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
  CHECK(room != MAP_FAILED);
  return static_cast<char*>(room);
}

// Moves the view to room that has been made. Its pages may have got different protections, which the kernel
// does not move in one go: then they are copied.
void ImageMapper::Move(View* view, char* to) {
  CHECK(mprotect(view->address, view->bytes, PROT_READ | PROT_WRITE) == 0);
  if (mremap(view->address, view->bytes, view->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
    memcpy(to, view->address, view->bytes);
    RealUnmap(view->address, view->bytes);
  }
  view->address = to;
}

// Room outside the range, which may have holes that the kernel would take.
char* ImageMapper::MakeRoomOutside(const char* begin, const char* end, size_t bytes) {
  std::vector<char*> inside;
  char* room = MakeRoom(nullptr, bytes);
  for (; room + bytes > begin && room < end; room = MakeRoom(nullptr, bytes)) inside.push_back(room);
  for (char* const unwanted : inside) RealUnmap(unwanted, bytes);
  return room;
}

void* ImageMapper::Map(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) {
  uint32_t file = 0;
  if ((flags & kMapKinds) == MAP_PRIVATE || !IndexOf(fd, &file)) {
    return RealMap(address, bytes, protection, flags, fd, offset);
  }
  if ((flags & MAP_SYNC) != 0) {  // as tmpfs answers
    errno = EOPNOTSUPP;
    return MAP_FAILED;
  }
  const int keep = flags & ~(kMapKinds | MAP_SYNC);
  char* const mapping = static_cast<char*>(
      RealMap(address, bytes, PROT_READ | PROT_WRITE, keep | MAP_PRIVATE | MAP_NORESERVE, fd, offset));
  if (mapping == MAP_FAILED) return mapping;
  // Libpmemobj maps a part over all the space it reserves for a set, and later parts on top of that.
  const uint64_t begin = static_cast<uint64_t>(offset);
  CHECK(begin < image_->file[file].bytes);
  const size_t view_bytes = std::min(bytes, image_->file[file].bytes - begin);
  for (View& view : views_) {
    if (view.mapped || view.file != file || view.offset != begin || view.bytes != view_bytes) continue;
    view.mapped = true;
    Move(&view, MakeRoom(mapping, view.bytes));
    CHECK(mprotect(mapping, bytes, protection) == 0);
    return mapping;
  }
  ApplyLines(*image_, file, begin, view_bytes, mapping);
  CHECK(mprotect(mapping, bytes, protection) == 0);
  views_.push_back({file, begin, view_bytes, mapping, true});
  return mapping;
}

int ImageMapper::Unmap(void* address, size_t bytes) {
  char* const begin = static_cast<char*>(address);
  for (View& view : views_) {
    if (!view.mapped || view.address < begin || view.address >= begin + bytes) continue;
    CHECK(view.address + view.bytes <= begin + bytes);
    Move(&view, MakeRoomOutside(begin, begin + bytes, view.bytes));
    view.mapped = false;
  }
  return RealUnmap(address, bytes);
}

ssize_t ImageMapper::ReadAt(int fd, void* to, size_t bytes, off_t offset) {
  const ssize_t n = RealReadAt(fd, to, bytes, offset);
  uint32_t file = 0;
  if (n <= 0 || !IndexOf(fd, &file)) return n;
  const uint64_t begin = static_cast<uint64_t>(offset);
  for (const View& view : views_) {
    if (view.file != file || begin < view.offset) continue;
    if (begin + static_cast<uint64_t>(n) > view.offset + view.bytes) continue;
    memcpy(to, view.address + (begin - view.offset), static_cast<size_t>(n));
    return n;
  }
  ApplyLines(*image_, file, begin, static_cast<size_t>(n), static_cast<char*>(to));
  return n;
}

}  // namespace pmlsm::crash
