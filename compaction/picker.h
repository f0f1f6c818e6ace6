// Picker: decides which runs to merge next, and where to. Tiered levels as in the paper: a level with
// size_ratio runs is merged into one run of the next level; the last level merges within itself.
//
// A level is the source of one merge at a time, so that the level below gets its runs in order of age; and a
// run that a merge is still writing is nobody's input.
//
// Thread safety: none; under the DB's mutex.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "levels/version.h"

namespace pmlsm {

// Room for the runs that come while a level is being merged: a level has this many slots.
inline constexpr int SlotsPerLevel(int size_ratio) { return 2 * size_ratio; }

struct MergePick {
  std::set<uint64_t> inputs;  // run numbers
  std::set<int> input_levels;
  int output_level = 0;
  uint64_t output_number = 0;  // given by the caller before SetBusy
};

class Picker {
 public:
  explicit Picker(int size_ratio) : size_ratio_(size_ratio) {}

  // The most urgent merge that is due, upper levels first; nothing if none is.
  std::optional<MergePick> Pick(const Version& version) const;
  // All runs into one of the deepest level in use. Nothing if a merge is under way, or there is no run.
  std::optional<MergePick> PickAll(const Version& version) const;

  void SetBusy(const MergePick& pick);
  void SetIdle(const MergePick& pick);
  bool idle() const { return busy_levels_.empty(); }

 private:
  const int size_ratio_;
  std::set<int> busy_levels_;        // sources of merges
  std::set<uint64_t> busy_outputs_;  // numbers of the runs that merges write
};

}  // namespace pmlsm
