#include "test/crash/flushed_lines.h"

#include <algorithm>
#include <cstring>

namespace pmlsm::crash {

void FlushedLines::Add(Lines* lines, const char* from, size_t bytes, Place place) {
  ++stamp_;
  for (size_t at = 0; at < bytes; at += kLineBytes) {
    Line line = {{place.offset + at, place.file, kWholeLine, {}, {}}, stamp_};
    memcpy(line.patch.bytes, from + at, kLineBytes);
    lines->push_back(line);
  }
}

FlushedLines::Lines FlushedLines::Pending(const Medium& medium) const {
  Lines pending;
  for (const auto& lines : threads_) {
    for (const Line& line : *lines) {
      if (!medium.IsOlder(line.patch, line.stamp) && !medium.Holds(line.patch)) pending.push_back(line);
    }
  }
  std::stable_sort(pending.begin(), pending.end(),
                   [](const Line& a, const Line& b) { return a.stamp < b.stamp; });
  return pending;
}

}  // namespace pmlsm::crash
