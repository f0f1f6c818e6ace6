// KWayMerge: K sorted sources as one by a loser tree (Figure 3(c) of the paper). See merged_stream.h.
//
// The tree: leaf i stands for source i; an inner node holds the loser of the match below it, losers_[0] the
// winner of all. After the winner moves on, only the matches on its path to the root are played again.
#pragma once

#include <memory>
#include <vector>

#include "compaction/forward_iterator.h"
#include "compaction/merged_stream.h"
#include "pmlsm/comparator.h"

namespace pmlsm {

class KWayMerge final : public ForwardIterator {
 public:
  KWayMerge(const Comparator* comparator, Sources sources);

  void SeekToFirst() override;
  void Next() override;
  Status status() const override { return status_; }

 private:
  bool Before(size_t a, size_t b) const;
  size_t Build(size_t node);
  void NoteEnd(size_t source);
  void TakeHead();

  const Comparator* const comparator_;
  const Sources sources_;
  std::vector<size_t> losers_;
  Status status_;
};

}  // namespace pmlsm
