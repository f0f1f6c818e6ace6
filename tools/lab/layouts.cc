#include "tools/lab/layouts.h"

namespace pmlsm::lab {

const char* ToString(Where where) {
  switch (where) {
    case Where::kFirst:
      return "first";
    case Where::kMiddle:
      return "middle";
    case Where::kLast:
      return "last";
  }
  return "unknown";
}

uint32_t RankAt(Where where, uint32_t count) {
  switch (where) {
    case Where::kFirst:
      return 0;
    case Where::kMiddle:
      return count / 2;
    case Where::kLast:
      return count - 1;
  }
  return 0;
}

std::vector<LabKey> AscendingKeys(uint64_t seed, uint32_t count, LabKey base) {
  constexpr uint64_t kGapMax = 1000;
  Random random(seed);
  std::vector<LabKey> keys;
  LabKey key = base;
  for (uint32_t i = 0; i < count; ++i) keys.push_back(key += 1 + random.Uniform(kGapMax));
  return keys;
}

std::vector<LabKey> Shuffled(std::vector<LabKey> keys, uint64_t seed) {
  Random random(seed);
  for (size_t i = keys.size(); i > 1; --i) std::swap(keys[i - 1], keys[random.Uniform(i)]);
  return keys;
}

}  // namespace pmlsm::lab
