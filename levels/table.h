// Table: an immutable sorted table in PMem, read in place (doc/FORMAT.md, "Table").
//
// Thread safety: everything is const and safe from any thread. Entries and keys point into PMem and are valid
// while the span is: whoever holds the Table keeps its space from being reused.
#pragma once

#include <cstdint>
#include <memory>

#include "levels/table_builder.h"
#include "levels/table_format.h"
#include "pmem/pool.h"
#include "pmlsm/status.h"
#include "util/internal_iterator.h"

namespace pmlsm {

class Table {
 public:
  // Checks the header (magic, version, checksum, regions inside the span) and reads nothing else.
  // Corruption names the table and the field.
  // `start` is where span.offset lies in memory.
  static Status Open(const TableOptions& options, const char* start, Span span, std::unique_ptr<Table>* table);
  ~Table();

  // False if the filter says that no version of a key with this KeyHash is here. A damaged filter line says
  // "maybe".
  bool MayContain(uint64_t key_hash) const;
  // Starts loading the filter line that MayContain will look at.
  void PrefetchFilter(uint64_t key_hash) const;

  // The newest version of key with sequence <= snapshot. *found = false if there is none here. Corruption if
  // `verify` and what was used fails its checksum. Does not look at the filter.
  Status Get(const Slice& key, uint64_t key_hash, SequenceNumber snapshot, bool verify, Entry* entry,
             bool* found) const;

  // REQUIRES: the Table outlives the iterator.
  std::unique_ptr<InternalIterator> NewIterator(bool verify) const;

  Slice smallest() const;  // user keys, inclusive
  Slice largest() const;
  const TableHeader& header() const;
  Span span() const;

  // Reads all of it: every checksum, order, index, filter (no false negative), counts. Corruption: what and
  // where.
  Status Check() const;
};

}  // namespace pmlsm
