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
#include "levels/table_routing.h"
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
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  // False if the filter says that no version of a key with this KeyHash is here. A damaged filter line says
  // "maybe".
  bool MayContain(uint64_t key_hash) const;
  // Starts loading the line that Get will look at first.
  void PrefetchGet(uint64_t key_hash) const {
    if (const TableRouting* routing = this->routing()) {
      routing->keys().Prefetch(key_hash);
    } else {
      filter_.Prefetch(key_hash);
    }
  }

  // Reads all nodes and makes a TableRouting of them, which Gets then go by, if it fits, the budget allows it, and
  // nothing is damaged. Else the filter and the index do. A table that is read without it does so by itself after
  // some Gets.
  void MakeRouting() const;
  const TableRouting* routing() const { return routing_.load(std::memory_order_acquire); }

  // The newest version of key with sequence <= snapshot. *found = false if there is none here. Corruption if
  // `verify` and what was used fails its checksum.
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

  // By the routing. kTooNew: the key is here, and its newest version is newer than the snapshot.
  enum class Hit { kNone, kTooNew, kFound };
  Damage FindRouted(const TableRouting& routing, const Slice& key, uint64_t key_hash, SequenceNumber snapshot,
                    bool verify, Entry* entry, Hit* hit) const;
  // By the index, and so any version.
  Damage Find(const Slice& key, uint64_t key_hash, SequenceNumber snapshot, bool verify, Entry* entry,
              bool* found) const;
  // False if anything is damaged, or is not what the header says.
  bool FillRouting(TableRouting* routing) const;
  void NoteUnroutedGet() const {
    constexpr uint32_t kGets = 64;
    const uint32_t gets = unrouted_gets_.load(std::memory_order_relaxed) + 1;
    unrouted_gets_.store(gets, std::memory_order_relaxed);  // by and large
    if (__builtin_expect(gets % kGets == 0, 0)) MakeRouting();
  }
  Damage ProveAbsent(const Slice& key, Index::Cursor at, const Node& node) const;
  // Follows the cursor to the next or previous node; ordinals tell whether there is one and whether it is
  // right.
  Damage NextNode(bool verify, Index::Cursor* at, Node* node) const;
  Damage PrevNode(bool verify, Index::Cursor* at, Node* node) const;
  void PrefetchNode(uint64_t place) const {
    if (nodes_.Holds(place, prefetch_bytes_)) PrefetchLines(nodes_.start + place, prefetch_bytes_);
  }
  Status Corrupt(Damage damage, const char* piece = "node") const;

  // What a read touches comes first.
  mutable std::atomic<const TableRouting*> routing_{nullptr};  // set once
  mutable std::atomic<uint32_t> unrouted_gets_{0};
  mutable std::atomic<bool> routing_begun_{false};  // or in vain

  // Constant since Open.
  DramBudget* const routing_budget_;
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
