#include "levels/key_map.h"

#include "util/check.h"

namespace pmlsm {

KeyMap::KeyMap(uint64_t keys) : line_count_(LinesFor(keys)), lines_(new Line[line_count_]()) {}

void KeyMap::Insert(uint64_t key_hash, uint32_t place) {
  DCHECK(place > 0 && place < kPlaceEnd);
  uint64_t at = Home(key_hash);
  for (uint64_t passed = 0; passed < line_count_; ++passed, at = After(at)) {
    Line& line = lines_[at];
    const uint32_t free = Matches(line, 0);
    if (free == 0) {
      line.passed_by |= PassedBit(key_hash);
      continue;
    }
    const uint32_t i = __builtin_ctz(free);
    line.tags[i] = TagOf(key_hash);
    line.places[3 * i] = static_cast<uint8_t>(place);
    line.places[3 * i + 1] = static_cast<uint8_t>(place >> 8);
    line.places[3 * i + 2] = static_cast<uint8_t>(place >> 16);
    return;
  }
  CHECK(false);  // more keys than it was made for
}

}  // namespace pmlsm
