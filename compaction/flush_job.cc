#include "compaction/flush_job.h"

#include <utility>

#include "compaction/drop_rules.h"
#include "compaction/merged_stream.h"

namespace pmlsm {

Status FlushJob::Execute(const JobContext& context, PersistCounters* counters, PlacedRun* flushed) const {
  const Comparator* const comparator = context.table_options.comparator;
  Sources sources;
  for (const MemTableRef& memtable : memtables) sources.push_back(memtable->rep->NewIterator());
  const auto stream = NewMergedStream(MergeOrder::kKWay, comparator, std::move(sources));
  // Tombstones stay: any run may hold an older version.
  DropRules rules(comparator, snapshots, [](const Slice&) { return true; });

  RunWriter writer(context, counters);
  for (stream->SeekToFirst(); stream->valid(); stream->Next()) {
    if (rules.Drop(stream->entry())) continue;
    Status s = writer.Add(stream->entry());
    if (!s.ok()) return s;
  }
  std::vector<TableRef> tables;
  Status s = stream->status();
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
