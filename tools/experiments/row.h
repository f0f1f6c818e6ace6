// Row: what was measured, and what came out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pmlsm/options.h"

namespace pmlsm::experiments {

enum class Experiment : uint8_t { kMoveNode, kMergeLevel };  // E6, E7

enum class MergeForm : uint8_t {
  kMaterialized,  // the paper's 2-way: intermediate results in DRAM, the last step writes to PMem
  kStreaming,     // the engine's 2-way: a tree of two-way merges, an entry at a time
  kKWay,
  kAuto,  // what the engine chooses by itself; then the destination is kAuto, too
};

const char* ToString(Experiment value);
const char* ToString(MergeForm value);

// The choices behind a row; those of the other experiment stay as they are here.
struct Setup {
  Experiment experiment = Experiment::kMoveNode;
  uint64_t node_bytes = 0;  // keys and values of what is moved, or of each input
  FailureAtomicity atomicity = FailureAtomicity::kAtomic;
  MemTableType memtable = MemTableType::kSorted;             // E6
  uint64_t duplicates = 0;                                   // E7: percent of an input's keys in all inputs
  MergeForm form = MergeForm::kKWay;                         // E7
  MergeDestination destination = MergeDestination::kDirect;  // E7

  bool operator==(const Setup& other) const;
};

// Percent of an input's keys in all inputs, that E7 takes.
inline constexpr uint64_t kMergeDuplicates[] = {0, 50, 100};
// All rows of E7 with nodes of this size.
std::vector<Setup> MergeSetups(uint64_t node_bytes);
// "order/destination/atomicity/duplicates" of a row of E7, whatever its node.
std::string MergeRowName(const Setup& setup);

// What one move or merge stored, on average over a sample.
struct PersistCost {
  double bytes_modified = 0;
  double line_bytes = 0;   // 64 B lines
  double block_bytes = 0;  // 256 B blocks
  double fences = 0;
  double snapshot_bytes = 0;  // that libpmemobj copied into its log; not in the figures above
};

struct Row {
  Setup setup;
  uint64_t entries_read = 0;  // by one move or merge
  uint64_t entries_written = 0;
  std::vector<double> nanos;       // of one move or merge, a sample each
  std::vector<double> fill_nanos;  // E6: of filling one memtable
  PersistCost cost;
};

double Median(std::vector<double> values);
double Min(const std::vector<double>& values);

// nanoseconds for each entry read.
double NanosPerEntry(const Row& row);
double FillNanosPerEntry(const Row& row);

}  // namespace pmlsm::experiments
