// Picker: decides which runs to merge next, and where to. Three shapes (Dostoevsky, Dayan and Idreos, SIGMOD
// 2018, names them):
//
//   tiered (the paper's): a level with size_ratio runs is merged into one run of the next level.
//   leveled: level 0 is tiered; every level below is one run, merged into the next one's when it is larger than
//     the level's capacity.
//   lazy-leveled: all levels are tiered but the deepest one in use, which is one run.
//
// A level's capacity is level0_run_bytes * size_ratio^(level + 1). A run that outgrows the deepest level in use
// moves down whole: only its place in the level array changes. The last level (num_levels) has no bound and
// merges within itself. A shape finds the levels as another one left them, and brings them into its own form
// step by step.
//
// Order of age: a level is the source of one merge at a time, so that the level below gets its runs in order
// of age; a run that takes part in a merge, as input or output, is nobody else's input. Level 0 alone, when it
// runs out of slots while it is being merged, merges its newer runs among themselves. A level's run that has newer
// entries than those that come from above (CompactRange with bounds leaves such) is merged with them, so that age
// still shows in sequence_max.
//
// Thread safety: none; under the DB's mutex.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "levels/version.h"
#include "pmlsm/options.h"

namespace pmlsm {

// Room for the runs that come while a level is being merged: a level has this many slots.
inline constexpr int SlotsPerLevel(int size_ratio) { return 2 * size_ratio; }

struct MergePick {
  std::set<uint64_t> inputs;  // run numbers
  std::set<int>
      input_levels;      // whose merges have to wait; none if it merges within level 0 beside another one
  int source_level = 0;  // the uppermost with an input
  int output_level = 0;
  bool moves = false;          // a single run that only changes its level
  bool alone = false;          // no other merge may go between its steps
  uint64_t output_number = 0;  // given by the caller before SetBusy; 0 = not yet
};

class Picker {
 public:
  // `level0_run_bytes`: about what a flush makes of a memtable.
  Picker(CompactionStyle style, int size_ratio, uint64_t level0_run_bytes)
      : style_(style), size_ratio_(size_ratio), level0_run_bytes_(level0_run_bytes) {}

  // The most urgent merge that is due, upper levels first; nothing if none is.
  std::optional<MergePick> Pick(const Version& version) const;
  // All runs into one of the deepest level in use. Nothing if a merge is under way, or there is no run.
  std::optional<MergePick> PickAll(const Version& version) const;

  void SetBusy(const MergePick& pick);
  void SetIdle(const MergePick& pick);
  bool idle() const { return busy_runs_.empty(); }
  bool IsBusy(uint64_t run) const { return busy_runs_.count(run) != 0; }

  uint64_t CapacityBytes(int level) const;

  // --- For pacing and statistics ---

  // Whether a merge that runs reads that run.
  bool IsInput(uint64_t run_number) const;
  // >= 1: the level is to be merged. Of runs, or, where the level is one run, of its capacity.
  double Score(const Version& version, int level) const;
  // Whether the level's runs take slots, which writers may run out of.
  bool HasSlots(const Version& version, int level) const { return !HoldsOneRun(version, level); }
  // What the level may still take in: runs of the usual size into its free slots.
  uint64_t RoomBytes(const Version& version, int level) const;
  // What the merge of this level that runs, or else the one that is due or waits for the level below, has yet to read.
  uint64_t DebtBytes(const Version& version, int level) const;
  // The same for all levels; a merge counts once.
  uint64_t DebtBytes(const Version& version) const;

 private:
  using Runs = std::vector<const PlacedRun*>;

  Runs FreeRuns(const Version& version, int level) const;
  bool IsDue(const Version& version, int level, const Runs& runs) const;
  // Whether what comes from above is merged with the runs that the level has.
  bool HoldsOneRun(const Version& version, int level) const;
  std::optional<MergePick> PickLevel(const Version& version, int level) const;
  bool AddNewerBelow(const Version& version, const Runs& runs, MergePick* pick) const;
  std::optional<MergePick> PickBesideMerge(const Version& version) const;

  CompactionStyle style_;
  int size_ratio_;
  uint64_t level0_run_bytes_;
  std::set<int> busy_levels_;
  std::set<uint64_t> busy_runs_;  // numbers; a merge's inputs keep theirs from step to step
  std::vector<MergePick> running_;
};

}  // namespace pmlsm
