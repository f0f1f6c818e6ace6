// MergeChooser: which order and destination a merge gets when Options leave it to the engine (kAuto); a fixed one
// stays as it is. doc/ARCHITECTURE.md, "Decisions that figures made", has the figures behind the rules.
//
//   1. Destination: buffered if failure atomicity snapshots what a merge writes (kTransaction), since a buffered
//      table adds to the transaction only what it copies, a direct one its whole span. Otherwise direct: both
//      write the same lines, and a buffer costs a copy and DRAM.
//   2. Order: 2-way for two inputs, where it is one comparison and no tree. For more, K-way; but on DAX 2-way
//      while few entries are duplicates, as the paper found it there, up to the number of inputs where that
//      costs too many instructions.
//
// The share of duplicates is measured: entries that merges into a level dropped, of those they read, where each
// merge halves the weight of those before it. A level without a merge yet takes the share of all levels; before
// any merge nothing is known, and entries count as unique. Between two thresholds a level stays at what it was,
// so that a share that wavers around one of them does not change the order each time.
//
// Thread safety: none, but for destination(), which never changes; the rest under the DB's mutex.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "pmem/device.h"
#include "pmlsm/options.h"

namespace pmlsm {

struct MergeChoice {
  MergeOrder order = MergeOrder::kKWay;                      // k2Way or kKWay
  MergeDestination destination = MergeDestination::kDirect;  // kDirect or kBuffered
  std::string reason;
};

class MergeChooser {
 public:
  struct Setting {
    Medium medium = Medium::kTmpfs;
    FailureAtomicity atomicity = FailureAtomicity::kIndividual;
    MergeOrder order = MergeOrder::kAuto;
    MergeDestination destination = MergeDestination::kAuto;
  };

  explicit MergeChooser(const Setting& setting);

  // Of every merge, and of a flush, which writes tables the same way.
  MergeDestination destination() const { return destination_; }
  // For one whole merge of `inputs` runs into `output_level` (>= 0).
  MergeChoice Choose(int output_level, size_t inputs);
  // What that merge then read and dropped. Not of a merge that failed.
  void NoteMerge(int output_level, uint64_t entries_read, uint64_t entries_dropped);

  // The inputs of the rules as they are now, how often each pair was chosen, and the last choices, newest first.
  std::string ToString() const;

 private:
  // Sums in which each merge halves the weight of those before it.
  struct Measured {
    double read = 0;
    double dropped = 0;

    void Add(uint64_t entries_read, uint64_t entries_dropped);
    bool known() const { return read > 0; }
    double share() const { return known() ? dropped / read : 0; }
  };
  struct Level {
    Measured measured;
    bool many_duplicates = false;
  };
  struct Past {
    uint64_t number;
    int output_level;
    size_t inputs;
    MergeChoice choice;
  };

  Level& LevelAt(int level);
  // Updates the level's standing between the thresholds, and says what it rests on.
  bool HasManyDuplicates(int level, std::string* why);
  MergeOrder ChooseOrder(int level, size_t inputs, std::string* reason);

  const Setting setting_;
  MergeDestination destination_;
  const char* destination_reason_;
  Measured all_;
  std::vector<Level> levels_;
  uint64_t choices_ = 0;
  std::array<std::array<uint64_t, 2>, 2> counts_{};  // by order and destination
  std::deque<Past> past_;                            // newest first
};

}  // namespace pmlsm
