// The entries that a merge without snapshots keeps, as the engine's merges decide it. The one place here that
// knows how merged streams and drop rules are put together.
#pragma once

#include <utility>

#include "compaction/drop_rules.h"
#include "compaction/merged_stream.h"

namespace pmlsm::experiments {

// Calls Status add(const Entry&) for each, in internal order; stops at an error, its own or a source's.
// Tombstones stay: older runs may hold their keys.
template <typename Add>
Status ForEachSurvivor(MergeOrder order, const Comparator* comparator, Sources sources, const Add& add) {
  DropRules rules(comparator, {}, [](const Slice&) { return true; });
  const auto stream = NewMergedStream(order, comparator, std::move(sources));
  for (stream->SeekToFirst(); stream->valid(); stream->Next()) {
    if (rules.Drop(stream->entry())) continue;
    Status s = add(stream->entry());
    if (!s.ok()) return s;
  }
  return stream->status();
}

}  // namespace pmlsm::experiments
