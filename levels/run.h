// Run: a sorted sequence of tables; one slot of a level. Immutable; a merge step replaces it by a shorter
// one.
//
// Invariants (Check): 1. Tables ascend, and overlap at most in one user key, whose older versions continue in
// the next table. 2. Only keys >= live_lower count: a merge that has moved the keys below it raises
// live_lower and drops the tables that lie wholly below. Readers and later merges ignore the keys below it
// that a kept table still holds.
//
// Thread safety: const and safe from any thread. Tables are shared between a run and its successors; the last
// owner of a table that was marked obsolete frees its span.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "levels/table.h"
#include "pmem/extent_allocator.h"

namespace pmlsm {

// A table and its claim on space.
class TableHandle {
 public:
  TableHandle(std::unique_ptr<Table> table, ExtentAllocator* extents)
      : table_(std::move(table)), extents_(extents) {}
  ~TableHandle();  // frees the span if obsolete
  TableHandle(const TableHandle&) = delete;
  TableHandle& operator=(const TableHandle&) = delete;

  const Table& table() const { return *table_; }
  // Called once no published manifest names the table; its space is freed with the last reference.
  void MarkObsolete() const { obsolete_.store(true, std::memory_order_release); }

 private:
  std::unique_ptr<Table> table_;
  ExtentAllocator* const extents_;
  mutable std::atomic<bool> obsolete_{false};
};
using TableRef = std::shared_ptr<const TableHandle>;

class Run {
 public:
  // `number` is the run's name; its age shows in sequence_max. REQUIRES: at least one table.
  Run(const Comparator* comparator, uint64_t number, std::vector<TableRef> tables, bool has_live_lower,
      std::string live_lower);

  uint64_t number() const { return number_; }
  const std::vector<TableRef>& tables() const { return tables_; }
  bool has_live_lower() const { return has_live_lower_; }
  const std::string& live_lower() const { return live_lower_; }
  uint64_t bytes() const { return bytes_; }  // of all spans
  SequenceNumber sequence_max() const { return sequence_max_; }
  uint64_t entries() const { return entries_; }        // of all tables, dead ones below live_lower included
  uint64_t tombstones() const { return tombstones_; }  // the same
  Slice smallest() const;                              // user key: live_lower or the first table's
  Slice largest() const;
  // Whether a table may hold a live key in [*begin, *end]; null = no bound.
  bool Overlaps(const Slice* begin, const Slice* end) const;

  // As Table::Get: looks at the one table (or, for a key that continues, the next ones).
  Status Get(const Slice& key, uint64_t key_hash, SequenceNumber snapshot, bool verify, Entry* entry,
             bool* found) const {
    return FinishGet(StartGet(key, key_hash), key, key_hash, snapshot, verify, entry, found);
  }

  // The same in two steps, so that the cache misses of several runs overlap: StartGet starts loading what FinishGet
  // will look at first.
  size_t StartGet(const Slice& key, uint64_t key_hash) const {
    const size_t table = BelowLive(key) ? tables_.size() : FindTable(key);
    if (table < tables_.size()) direct_[table]->PrefetchGet(key_hash);
    return table;
  }
  Status FinishGet(size_t started, const Slice& key, uint64_t key_hash, SequenceNumber snapshot, bool verify,
                   Entry* entry, bool* found) const;

  // REQUIRES: the Run outlives the iterator. Keys below live_lower do not appear.
  std::unique_ptr<InternalIterator> NewIterator(bool verify) const;

  Status Check() const;

  // The persistent form (doc/FORMAT.md, "Run descriptor"), checksum included.
  std::string EncodeDescriptor() const;
  // Reads the descriptor in `span`, opens its tables. Corruption: what and where. *spans gets every span that
  // the run reaches: the descriptor's own first, then the tables'.
  static Status Open(const TableOptions& options, const Pool& pool, ExtentAllocator* extents,
                     uint64_t descriptor, std::shared_ptr<const Run>* run, std::vector<Span>* spans);

 private:
  friend class RunIterator;

  size_t FindTable(const Slice& key) const;  // first table with largest >= key
  bool BelowLive(const Slice& key) const {
    return has_live_lower_ && comparator_->Compare(key, live_lower_) < 0;
  }

  const Comparator* const comparator_;
  const uint64_t number_;
  const std::vector<TableRef> tables_;
  std::vector<const Table*> direct_;  // the same, a load nearer
  const bool has_live_lower_;
  const std::string live_lower_;
  uint64_t bytes_ = 0;
  uint64_t entries_ = 0;
  uint64_t tombstones_ = 0;
  SequenceNumber sequence_max_ = 0;
  // Bytewise order only: what all keys begin with, and the 8 bytes after it of each table's largest key, side by
  // side for the search.
  Slice prefix_;
  std::vector<uint64_t> largest_heads_;
};

}  // namespace pmlsm
