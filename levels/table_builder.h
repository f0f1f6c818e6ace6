// TableBuilder: turns sorted entries into a table (doc/FORMAT.md, "Table"), append-only.
//
// Use: Add entries in strictly ascending internal order while Fits says so, then Finish, then the sink's Finish,
// which makes the table durable. Nothing of it is reachable until a run descriptor that names it is published.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "levels/table_sink.h"
#include "pmlsm/comparator.h"
#include "util/dram_budget.h"
#include "util/internal_key.h"

namespace pmlsm {

struct TableOptions {
  const Comparator* comparator = nullptr;
  size_t node_bytes = 1024;
  int filter_bits_per_key = 10;
  DramBudget* routing_budget = nullptr;  // for Table::MakeRouting; null: no table gets any
};

class TableBuilder {
 public:
  // The sink's span has `capacity` bytes. `table_number` is stored in the header.
  TableBuilder(const TableOptions& options, uint64_t table_number, uint64_t capacity, TableSink* sink);
  ~TableBuilder();

  // A span of this size certainly holds a table of this one entry.
  static uint64_t BytesFor(const TableOptions& options, const Entry& entry);

  // Whether the table, its index, filter and header included, stays within the capacity if the entry is
  // added.
  bool Fits(const Entry& entry) const;
  // REQUIRES: Fits(entry).
  void Add(const Entry& entry);
  uint64_t entries() const;
  // Finish would take this many bytes now (an upper bound).
  uint64_t EstimatedBytes() const;

  // Hands the rest and the header to the sink. The bytes of the whole table, from the span's start. REQUIRES: at
  // least one entry.
  uint64_t Finish();

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace pmlsm
