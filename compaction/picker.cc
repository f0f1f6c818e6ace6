#include "compaction/picker.h"

#include <algorithm>

namespace pmlsm {

std::optional<MergePick> Picker::Pick(const Version& version) const {
  const size_t slots = SlotsPerLevel(size_ratio_);
  for (int level = 0; level < version.levels(); ++level) {
    if (busy_levels_.count(level) != 0) continue;
    MergePick pick;
    for (const PlacedRun& placed : version.runs(level)) {
      if (busy_outputs_.count(placed.run->number()) == 0) pick.inputs.insert(placed.run->number());
    }
    if (pick.inputs.size() < static_cast<size_t>(size_ratio_)) continue;
    const bool last = level + 1 == version.levels();
    if (!last && version.runs(level + 1).size() >= slots) continue;  // its own merge must come first
    pick.input_levels = {level};
    pick.output_level = last ? level : level + 1;
    return pick;
  }
  return std::nullopt;
}

std::optional<MergePick> Picker::PickAll(const Version& version) const {
  if (!idle() || version.run_count() == 0) return std::nullopt;
  MergePick pick;
  for (int level = 0; level < version.levels(); ++level) {
    if (version.runs(level).empty()) continue;
    pick.input_levels.insert(level);
    for (const PlacedRun& placed : version.runs(level)) pick.inputs.insert(placed.run->number());
  }
  pick.output_level = std::max(version.deepest_level(), std::min(1, version.levels() - 1));
  return pick;
}

void Picker::SetBusy(const MergePick& pick) {
  busy_levels_.insert(pick.input_levels.begin(), pick.input_levels.end());
  busy_outputs_.insert(pick.output_number);
}

void Picker::SetIdle(const MergePick& pick) {
  for (const int level : pick.input_levels) busy_levels_.erase(level);
  busy_outputs_.erase(pick.output_number);
}

}  // namespace pmlsm
