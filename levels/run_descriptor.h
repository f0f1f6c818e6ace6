// The bytes of a run descriptor, checked (doc/FORMAT.md, "Run descriptor").
//
// Thread safety: a value and a function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "levels/run_format.h"

namespace pmlsm {

struct RunDescriptor {
  uint64_t number = 0;
  uint64_t bytes = 0;        // of the descriptor
  uint64_t entries = 0;      // of all tables, as stored
  uint64_t spans_bytes = 0;  // of all tables, as stored
  std::vector<TableReference> tables;
  bool has_live_lower = false;
  std::string live_lower;
};

// Reads at most bytes_max from `start`. Null, or what is wrong, as static text.
const char* ReadRunDescriptor(const char* start, uint64_t bytes_max, RunDescriptor* descriptor);

}  // namespace pmlsm
