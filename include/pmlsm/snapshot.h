// Snapshot: a state of the DB that reads can go back to (ReadOptions::snapshot).
#pragma once

#include "pmlsm/export.h"
#include "pmlsm/types.h"

namespace pmlsm {

// Immutable, so any thread may use it. Made by DB::GetSnapshot; given back by DB::ReleaseSnapshot before
// Close.
class PMLSM_EXPORT Snapshot {
 public:
  virtual SequenceNumber GetSequenceNumber() const = 0;

 protected:
  virtual ~Snapshot() = default;
};

}  // namespace pmlsm
