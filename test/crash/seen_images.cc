#include "test/crash/seen_images.h"

#include <cstring>
#include <unordered_map>

#include "util/hash.h"

namespace pmlsm::crash {
namespace {

// What the image's lines, of which later ones win, make of the medium's hash.
uint64_t HashOf(const Image& image, const Medium& medium) {
  struct Content {
    char bytes[kLineBytes];
  };
  std::unordered_map<uint64_t, Content> changed;
  uint64_t hash = medium.hash();
  for (uint64_t i = 0; i < image.lines; ++i) {
    const LinePatch& line = image.line[i];
    const auto [found, first] = changed.try_emplace(line.offset * kFilesMax + line.file);
    char* const bytes = found->second.bytes;
    if (first) memcpy(bytes, medium.Line(line.file, line.offset), kLineBytes);
    hash ^= Medium::HashOfLine(line.file, line.offset, bytes);
    ApplyLine(line, bytes);
    hash ^= Medium::HashOfLine(line.file, line.offset, bytes);
  }
  return hash;
}

}  // namespace

SeenImages::Verdict SeenImages::Add(const Image& image, const Medium& medium) {
  const uint64_t hash = HashOf(image, medium) + file_operations_ * 0x9e3779b97f4a7c15ull;
  const uint64_t checked =
      Hash64(image.after, sizeof(image.after), Hash64(image.before, sizeof(image.before), hash));
  return {images_.insert(hash).second, checked_.insert(checked).second};
}

}  // namespace pmlsm::crash
