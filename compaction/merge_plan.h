// PlanMerge: cuts a merge of runs into pieces in ascending key order, so that a table whose keys no other table
// has anything to do with is taken over as it is instead of being copied: what other systems call a trivial
// move. Runs that were written in key order, and the parts of an interrupted merge, are joined at the cost of a
// descriptor.
//
// A table is taken over if (1) its keys, both ends included, lie apart from those of all other tables; (2) it is
// wholly live; (3) a merge would drop nothing of it: no older versions, and no tombstones that could go;
// (4) it is not so small that runs would end up in crumbs.
//
// Thread safety: none needed; runs are immutable.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "levels/run.h"

namespace pmlsm {

struct MergePiece {
  TableRef table;                                  // taken over; null if the piece is to be merged:
  std::vector<std::shared_ptr<const Run>> inputs;  // the part of each run that has one, newest first
};

struct MergePlanRules {
  const Comparator* comparator = nullptr;
  uint64_t table_bytes_min = 0;  // smaller tables are merged
  std::function<bool(const Table&)>
      keeps_tombstones;  // whether a merge would have to keep those of the table
};

// `inputs`: newest first. The pieces hold all their live entries.
std::vector<MergePiece> PlanMerge(const MergePlanRules& rules,
                                  const std::vector<std::shared_ptr<const Run>>& inputs);

}  // namespace pmlsm
