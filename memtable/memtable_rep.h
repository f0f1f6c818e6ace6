// MemTableRep: the index of a memtable, in DRAM. Implementations: sorted (sorted_rep.h) and hash
// (hash_rep.h), the two sides of Figure 3(a) of the paper.
//
// Thread safety: one Insert at a time (the caller's write lock); Get and iterators run beside it without any
// lock and never wait. An entry is seen whole or not at all; once Insert returns, every later Get sees it.
// Nothing is ever removed; keys and values stay where they are until the rep is destroyed.
#pragma once

#include <cstddef>
#include <memory>

#include "pmlsm/comparator.h"
#include "pmlsm/options.h"
#include "util/internal_iterator.h"
#include "util/internal_key.h"

namespace pmlsm {

class MemTableRep {
 public:
  static std::unique_ptr<MemTableRep> New(MemTableType type, const Comparator* comparator);
  virtual ~MemTableRep() = default;

  // Copies key and value. REQUIRES: (key, tag) is not in the table yet.
  virtual void Insert(const Slice& key, Tag tag, const Slice& value) = 0;

  // The newest version of key with a sequence number <= snapshot, tombstones included; false if there is
  // none. *entry points into the rep.
  virtual bool Get(const Slice& key, SequenceNumber snapshot, Entry* entry) const = 0;

  // Sees at least what was inserted before it was made. For the hash rep this sorts a copy of the index.
  virtual std::unique_ptr<InternalIterator> NewIterator() const = 0;

  // DRAM in use, bytes: arena blocks and index.
  virtual size_t ApproximateBytes() const = 0;
  virtual size_t entries() const = 0;
};

}  // namespace pmlsm
