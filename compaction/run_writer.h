// RunWriter: writes sorted entries as the tables of a run. What flush jobs and merge jobs share.
//
// A table at a time: 1. Allocate a span, a smaller one if free space is in pieces. 2. Publisher::BeginRange
// (a snapshot in kTransaction mode). 3. Stream the table and fence (TableBuilder, TableSink). 4. EndRange. 5.
// Give back the extents that the table did not need. Nothing is reachable until the run's descriptor is
// written (WriteDescriptor: stream, fence) and the manifest that names it is published. CRASH before that:
// the space is free again by construction.
//
// The range of 2 is the whole span if the table goes straight to PMem, since nobody knows its size before it is
// written. A buffered table is put together in DRAM before 2, and the range is what will be copied, to the byte:
// the third of the paper's insights about merges (section 5.3).
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "levels/run.h"
#include "levels/table_builder.h"
#include "pmem/extent_allocator.h"
#include "pmem/publish.h"
#include "pmem/store.h"
#include "pmlsm/compaction_filter.h"
#include "pmlsm/merge_operator.h"

namespace pmlsm {

// What a job needs of the DB; everything outlives it.
struct JobContext {
  Pool* pool;
  ExtentAllocator* extents;
  Publisher* publisher;
  TableOptions table_options;
  uint64_t table_bytes;                                 // target
  MergeDestination destination;                         // kDirect or kBuffered
  bool verify_checksums = true;                         // of what is read
  const MergeOperator* merge_operator = nullptr;        // null: operands stay as they are
  const CompactionFilter* compaction_filter = nullptr;  // of merges; null: none
  std::function<uint64_t()> next_table_number;
  std::function<bool()> cancelled;  // asked now and then; true ends the job with ShutdownInProgress
};

class RunWriter {
 public:
  RunWriter(const JobContext& context, PersistCounters* counters);
  ~RunWriter();

  // Entries in strictly ascending internal order. NoSpace and other errors stick.
  Status Add(const Entry& entry);
  // Whether every entry that Add took is in a table. Not so if a table could not be finished (a buffered one also
  // for lack of log space); still so if Add found no space to start one.
  bool whole() const { return whole_; }
  // Finishes the last table. The tables, ascending; none if nothing was added.
  Status Finish(std::vector<TableRef>* tables);
  uint64_t bytes() const { return bytes_ + (builder_ == nullptr ? 0 : builder_->EstimatedBytes()); }

 private:
  bool buffered() const { return context_.destination == MergeDestination::kBuffered; }
  Status BeginRange(Span range);
  Status EndRange();
  Status StartTable(const Entry& first);
  Status FinishTable();
  void AbandonTable();

  const JobContext context_;
  Store store_;
  bool whole_ = true;
  uint64_t bytes_ = 0;  // of finished tables
  Span span_;           // of the table in work
  bool range_open_ = false;
  std::unique_ptr<TableSink> sink_;
  std::unique_ptr<TableBuilder> builder_;
  std::vector<TableRef> tables_;
};

// Writes a run's descriptor, durable when it returns OK.
Status WriteDescriptor(const JobContext& context, const Run& run, PersistCounters* counters,
                       Span* descriptor);

}  // namespace pmlsm
