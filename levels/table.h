// Table: an immutable sorted table in PMem, read in place (doc/FORMAT.md, "Table").
//
// Thread safety: everything is const and safe from any thread. Entries and keys point into PMem and are valid
// while the span is: whoever holds the Table keeps its space from being reused.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "levels/filter.h"
#include "levels/index.h"
#include "levels/node.h"
#include "levels/table_builder.h"
#include "levels/table_format.h"
#include "pmem/pool.h"
#include "pmlsm/status.h"
#include "util/internal_iterator.h"
#include "util/prefetch.h"

namespace pmlsm {

class Table {
 public:
  // Checks the header (magic, version, checksum, regions inside the span) and reads nothing else.
  // Corruption names the table and the field.
  // `start` is where span.offset lies in memory.
  static Status Open(const TableOptions& options, const char* start, Span span,
                     std::unique_ptr<Table>* table);
  ~Table() = default;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  // False if the filter says that no version of a key with this KeyHash is here. A damaged filter line says
  // "maybe".
  bool MayContain(uint64_t key_hash) const;
  // Starts loading the filter line that MayContain will look at.
  void PrefetchFilter(uint64_t key_hash) const;

  // The newest version of key with sequence <= snapshot. *found = false if there is none here. Corruption if
  // `verify` and what was used fails its checksum. Does not look at the filter.
  Status Get(const Slice& key, uint64_t key_hash, SequenceNumber snapshot, bool verify, Entry* entry,
             bool* found) const;

  // The key of one of its entries, chosen by the number (Index::Any). Unverified: for estimates.
  Status SampleKey(uint64_t number, std::string* key) const;

  // REQUIRES: the Table outlives the iterator.
  std::unique_ptr<InternalIterator> NewIterator(bool verify) const;

  Slice smallest() const { return smallest_; }  // user keys, inclusive
  Slice largest() const { return largest_; }
  const TableHeader& header() const { return header_; }  // a checked copy
  Span span() const { return span_; }
  // Times that MayContain said "maybe" because a line of the filter failed its check.
  uint64_t damaged_filter_lines() const { return damaged_filter_lines_.load(std::memory_order_relaxed); }

  // Reads all of it: every checksum, order, index, filter (no false negative), counts. Corruption: what and
  // where.
  Status Check() const;
  // Every damaged line of the filter and node of the index, none of which holds data. What holds it is read by
  // TableScan.
  std::vector<Damage> FindRoutingDamage() const;

 private:
  friend class TableCursor;
  class Checker;

  Table(const TableOptions& options, const char* start, Span span, const TableHeader& header);

  Damage Find(const Slice& key, uint64_t key_hash, SequenceNumber snapshot, bool verify, Entry* entry,
              bool* found) const;
  Damage ProveAbsent(const Slice& key, Index::Cursor at, const Node& node) const;
  // Follows the cursor to the next or previous node; ordinals tell whether there is one and whether it is
  // right.
  Damage NextNode(bool verify, Index::Cursor* at, Node* node) const;
  Damage PrevNode(bool verify, Index::Cursor* at, Node* node) const;
  void PrefetchNode(uint64_t place) const {
    if (nodes_.Holds(place, prefetch_bytes_)) PrefetchLines(nodes_.start + place, prefetch_bytes_);
  }
  Status Corrupt(Damage damage) const;

  // Constant since Open; what a read touches comes first.
  Filter filter_;
  const Comparator* const comparator_;
  const bool bytewise_;
  const uint32_t prefetch_bytes_;
  Region nodes_;
  Index index_;
  TableHeader header_;
  const char* const start_;
  const Span span_;
  std::string smallest_;  // in DRAM: checked once, they route every lookup
  std::string largest_;

  mutable std::atomic<uint64_t> damaged_filter_lines_{0};
};

}  // namespace pmlsm
