// MemTable: a memtable and what the DB must know of it. Shared by the read views that hold it.
//
// Thread safety: as MemTableRep; the rest is under the DB's mutex.
#pragma once

#include <memory>

#include "memtable/memtable_rep.h"
#include "pmlsm/types.h"

namespace pmlsm {

struct MemTable {
  MemTable(MemTableType type, const Comparator* comparator, uint64_t first_segment)
      : rep(MemTableRep::New(type, comparator)), first_segment(first_segment) {}

  const std::unique_ptr<MemTableRep> rep;
  // Older log segments hold nothing of it: the one in use when it was started, or later while it was empty.
  uint64_t first_segment;
  SequenceNumber largest_sequence = 0;
};
using MemTableRef = std::shared_ptr<MemTable>;

}  // namespace pmlsm
