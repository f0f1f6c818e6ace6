// Report: what a simulated run did and found. Plain memory, so that it can be shared between processes.
#pragma once

#include <cstdint>

namespace pmlsm::crash {

inline constexpr int kPhasesMax = 24;

struct PhaseReport {
  char name[24];
  uint64_t fences;
  uint64_t points;      // instants at which the power failed
  uint64_t images;      // that were checked
  uint64_t distinct;    // of these: those that differ from all before; the others met another oracle
  uint64_t duplicates;  // that were not checked, having been already
  double seconds;       // that the images took
};

struct Report {
  PhaseReport phase[kPhasesMax];
  int phases;
  uint64_t flushes;
  uint64_t strangers;  // flushes outside any file of the medium
  uint64_t lines_pending_max;
  uint64_t lines_dirty_max;
  uint64_t failures;
  char first_failure[1600];       // phase, instant, kind of image, and what the checker said
  char first_failure_image[256];  // the directory where it is kept
  int captured;                   // images kept by Plan::captures
  bool finished;                  // the program came to its end
};

}  // namespace pmlsm::crash
