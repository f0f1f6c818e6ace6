#include "compaction/picker.h"

#include <algorithm>

namespace pmlsm {
namespace {

uint64_t TotalBytes(const std::vector<const PlacedRun*>& runs) {
  uint64_t bytes = 0;
  for (const PlacedRun* placed : runs) bytes += placed->run->bytes();
  return bytes;
}

uint64_t InputBytes(const Version& version, const MergePick& pick) {
  uint64_t bytes = 0;
  for (const Run* run : version.newest_first()) {
    if (pick.inputs.count(run->number()) != 0) bytes += run->bytes();
  }
  return bytes;
}

void AddInputs(const std::vector<const PlacedRun*>& runs, MergePick* pick) {
  for (const PlacedRun* placed : runs) pick->inputs.insert(placed->run->number());
}

}  // namespace

uint64_t Picker::CapacityBytes(int level) const {
  uint64_t bytes = level0_run_bytes_;
  for (int i = 0; i <= level && bytes < UINT64_MAX / size_ratio_; ++i) bytes *= size_ratio_;
  return bytes;
}

Picker::Runs Picker::FreeRuns(const Version& version, int level) const {
  Runs runs;
  for (const PlacedRun& placed : version.runs(level)) {
    if (!IsBusy(placed.run->number())) runs.push_back(&placed);
  }
  return runs;
}

bool Picker::HoldsOneRun(const Version& version, int level) const {
  switch (style_) {
    case CompactionStyle::kTiered:
      return false;
    case CompactionStyle::kLeveled:
      return level > 0;
    case CompactionStyle::kLazyLeveled:
      return level > 0 && level >= version.deepest_level();
  }
  return false;
}

bool Picker::IsDue(const Version& version, int level, const Runs& runs) const {
  const bool last = level + 1 == version.levels();
  if (HoldsOneRun(version, level)) {
    return runs.size() >= 2 || (!last && !runs.empty() && TotalBytes(runs) > CapacityBytes(level));
  }
  if (runs.size() < static_cast<size_t>(size_ratio_)) return false;
  // The next level's own merge must come first.
  return last || version.runs(level + 1).size() < static_cast<size_t>(SlotsPerLevel(size_ratio_));
}

std::optional<MergePick> Picker::PickLevel(const Version& version, int level) const {
  const Runs runs = FreeRuns(version, level);
  if (!IsDue(version, level, runs)) return std::nullopt;
  MergePick pick;
  AddInputs(runs, &pick);
  pick.input_levels = {level};
  pick.source_level = level;
  const bool last = level + 1 == version.levels();
  // Runs that an interruption or another shape left behind first become the one that the level is to hold.
  const bool within = HoldsOneRun(version, level) && TotalBytes(runs) <= CapacityBytes(level);
  pick.output_level = last || within ? level : level + 1;
  if (pick.output_level != level && HoldsOneRun(version, pick.output_level)) {
    AddInputs(FreeRuns(version, pick.output_level), &pick);
  }
  if (pick.output_level != level && !AddNewerBelow(version, runs, &pick)) return std::nullopt;
  pick.moves = pick.inputs.size() == 1;
  return pick;
}

// Runs of the output level with newer entries than all of `runs`. False if another merge has one: its turn first.
bool Picker::AddNewerBelow(const Version& version, const Runs& runs, MergePick* pick) const {
  SequenceNumber newest = 0;
  for (const PlacedRun* placed : runs) newest = std::max(newest, placed->run->sequence_max());
  for (const PlacedRun& placed : version.runs(pick->output_level)) {
    if (placed.run->sequence_max() < newest) break;
    if (IsBusy(placed.run->number())) return false;
    pick->inputs.insert(placed.run->number());
  }
  return true;
}

// The merge of level 0 that is under way still holds its slots. The result stays in level 0: it is newer than
// what that merge has not yet moved.
std::optional<MergePick> Picker::PickBesideMerge(const Version& version) const {
  constexpr size_t kSlotsLeft = 2;
  const size_t slots = static_cast<size_t>(SlotsPerLevel(size_ratio_));
  if (version.runs(0).size() + kSlotsLeft < slots) return std::nullopt;
  // Those that are newer than all that merges have at hand.
  Runs runs;
  for (const PlacedRun& placed : version.runs(0)) {
    if (IsBusy(placed.run->number())) break;
    runs.push_back(&placed);
  }
  if (runs.size() < 2) return std::nullopt;
  MergePick pick;
  AddInputs(runs, &pick);
  return pick;
}

std::optional<MergePick> Picker::Pick(const Version& version) const {
  for (int level = 0; level < version.levels(); ++level) {
    if (busy_levels_.count(level) != 0 && level != 0) continue;
    // A merge of level 0 that is under way, of the whole level or beside one, holds runs older than the free ones.
    const bool beside =
        level == 0 && (busy_levels_.count(0) != 0 || FreeRuns(version, 0).size() < version.runs(0).size());
    auto pick = beside ? PickBesideMerge(version) : PickLevel(version, level);
    if (pick) return pick;
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
  pick.source_level = *pick.input_levels.begin();
  pick.output_level = std::max(version.deepest_level(), std::min(1, version.levels() - 1));
  return pick;
}

void Picker::SetBusy(const MergePick& pick) {
  busy_levels_.insert(pick.input_levels.begin(), pick.input_levels.end());
  busy_runs_.insert(pick.inputs.begin(), pick.inputs.end());
  busy_runs_.insert(pick.output_number);
  running_.push_back(pick);
}

void Picker::SetIdle(const MergePick& pick) {
  for (const int level : pick.input_levels) busy_levels_.erase(level);
  for (const uint64_t number : pick.inputs) busy_runs_.erase(number);
  busy_runs_.erase(pick.output_number);
  const auto same = [&pick](const MergePick& running) { return running.inputs == pick.inputs; };
  running_.erase(std::remove_if(running_.begin(), running_.end(), same), running_.end());
}

bool Picker::IsInput(uint64_t run_number) const {
  return std::any_of(running_.begin(), running_.end(),
                     [run_number](const MergePick& pick) { return pick.inputs.count(run_number) != 0; });
}

double Picker::Score(const Version& version, int level) const {
  const std::vector<PlacedRun>& runs = version.runs(level);
  if (!HoldsOneRun(version, level)) return static_cast<double>(runs.size()) / size_ratio_;
  uint64_t bytes = 0;
  for (const PlacedRun& placed : runs) bytes += placed.run->bytes();
  return static_cast<double>(bytes) / static_cast<double>(CapacityBytes(level));
}

uint64_t Picker::RoomBytes(const Version& version, int level) const {
  const size_t slots = static_cast<size_t>(SlotsPerLevel(size_ratio_));
  const uint64_t free_slots = slots - std::min(slots, version.runs(level).size());
  const uint64_t run_bytes = level == 0 ? level0_run_bytes_ : CapacityBytes(level - 1);
  return run_bytes > UINT64_MAX / (slots + 1) ? UINT64_MAX : free_slots * run_bytes;
}

uint64_t Picker::DebtBytes(const Version& version, int level) const {
  for (const MergePick& pick : running_) {
    if (pick.input_levels.count(level) != 0) return InputBytes(version, pick);
  }
  const auto due = PickLevel(version, level);
  if (due) return due->moves ? 0 : InputBytes(version, *due);
  const Runs runs = FreeRuns(version, level);
  const bool waits = !HoldsOneRun(version, level) && runs.size() >= static_cast<size_t>(size_ratio_);
  return waits ? TotalBytes(runs) : 0;
}

uint64_t Picker::DebtBytes(const Version& version) const {
  uint64_t bytes = 0;
  std::set<int> counted;
  for (const MergePick& pick : running_) {
    bytes += InputBytes(version, pick);
    counted.insert(pick.input_levels.begin(), pick.input_levels.end());
  }
  for (int level = 0; level < version.levels(); ++level) {
    if (counted.count(level) == 0) bytes += DebtBytes(version, level);
  }
  return bytes;
}

}  // namespace pmlsm
