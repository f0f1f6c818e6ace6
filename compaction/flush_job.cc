#include "compaction/flush_job.h"

#include <utility>

#include "compaction/merged_stream.h"
#include "compaction/survivors.h"

namespace pmlsm {

Status FlushJob::Execute(const JobContext& context, PersistCounters* counters, PlacedRun* flushed) const {
  const Comparator* const comparator = context.table_options.comparator;
  Sources sources;
  for (const MemTableRef& memtable : memtables) sources.push_back(memtable->rep->NewIterator());
  SurvivorRules rules;
  rules.comparator = comparator;
  rules.snapshots = snapshots;
  rules.held_below = [this](const Slice& key) { return older->MayHold(key); };
  rules.merge_operator = context.merge_operator;
  Survivors survivors(std::move(rules), NewMergedStream(MergeOrder::kKWay, comparator, std::move(sources)));

  RunWriter writer(context, counters);
  for (survivors.SeekToFirst(); survivors.valid(); survivors.Next()) {
    Status s = writer.Add(survivors.entry());
    if (!s.ok()) return s;
  }
  std::vector<TableRef> tables;
  Status s = survivors.status();
  if (s.ok()) s = writer.Finish(&tables);
  if (!s.ok() || tables.empty()) return s;

  flushed->run = std::make_shared<Run>(comparator, run_number, tables, false, "");
  s = WriteDescriptor(context, *flushed->run, counters, &flushed->descriptor);
  if (!s.ok()) {
    for (const TableRef& table : tables) table->MarkObsolete();
    flushed->run.reset();
  }
  return s;
}

}  // namespace pmlsm
