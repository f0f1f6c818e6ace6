// MergedStream: several sorted sources as one, in internal order; the two merge orders of Figure 3 of the
// paper.
//
//   2-way: a binary tree of two-way merges; neighbours in age are paired, each inner node caches its head.
//   K-way: one loser tree over all sources (Knuth, TAOCP 5.4.1): one path of log2(K) comparisons an entry.
//
// Contract: SeekToFirst and Next only (the other moves CHECK). The sources must be disjoint in (key, tag);
// entries stay valid as long as the sources' own. An error of a source ends the stream and shows in status().
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>
#include <vector>

#include "pmlsm/comparator.h"
#include "pmlsm/options.h"
#include "util/internal_iterator.h"

namespace pmlsm {

using Sources = std::vector<std::unique_ptr<InternalIterator>>;

// `order` is k2Way or kKWay. Takes the sources; any number of them, also none.
std::unique_ptr<InternalIterator> NewMergedStream(MergeOrder order, const Comparator* comparator,
                                                  Sources sources);

}  // namespace pmlsm
