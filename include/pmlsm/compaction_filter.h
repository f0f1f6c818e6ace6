// CompactionFilter: lets the user drop or change values while runs are merged.
//
// It is asked about values only (never tombstones or merge operands that could not be folded), and only about
// those that no snapshot sees: the newest version of a key, newer than every snapshot. A snapshot that is taken
// while a merge runs keeps what it sees, too (in RocksDB it may lose it): that part of the merge is done again
// without the filter. What the filter removes becomes a tombstone, so that older values do not come back. It may
// be asked about a value again, or never: which merges happen, and when, is not promised; flushes do not ask. A
// value longer than kMaxValueBytes ends the merge, and writes, with InvalidArgument.
//
// Thread safety: called from several threads at once. The object must outlive the DB. It cannot fail; no
// exception may leave it.
#pragma once

#include <string>

#include "pmlsm/export.h"
#include "pmlsm/slice.h"

namespace pmlsm {

class PMLSM_EXPORT CompactionFilter {
 public:
  virtual ~CompactionFilter() = default;

  virtual const char* Name() const = 0;

  // True: the key is removed. False: it stays; with *value_changed set, its value becomes *new_value.
  // `level`: where the merged run goes.
  virtual bool Filter(int level, const Slice& key, const Slice& existing_value, std::string* new_value,
                      bool* value_changed) const = 0;
};

}  // namespace pmlsm
