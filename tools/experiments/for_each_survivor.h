// The entries that a merge without snapshots keeps, as the engine's merges decide it. The one place here that
// knows how merged streams and the rules of what survives are put together.
#pragma once

#include <utility>

#include "compaction/merged_stream.h"
#include "compaction/survivors.h"

namespace pmlsm::experiments {

// Calls Status add(const Entry&) for each, in internal order; stops at an error, its own or a source's.
// Tombstones stay: older runs may hold their keys.
template <typename Add>
Status ForEachSurvivor(MergeOrder order, const Comparator* comparator, Sources sources, const Add& add) {
  SurvivorRules rules;
  rules.comparator = comparator;
  rules.held_below = [](const Slice&) { return true; };
  Survivors survivors(std::move(rules), NewMergedStream(order, comparator, std::move(sources)));
  for (survivors.SeekToFirst(); survivors.valid(); survivors.Next()) {
    Status s = add(survivors.entry());
    if (!s.ok()) return s;
  }
  return survivors.status();
}

}  // namespace pmlsm::experiments
