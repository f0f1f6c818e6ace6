// MergingIterator: several sources as one, in internal order, both ways; what a DB iterator walks.
//
// The sources that have an entry form a binary heap by their head (least on top going forward, greatest going
// back). Going the other way, all sources but the current one are placed anew next to the current entry.
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>
#include <vector>

#include "pmlsm/comparator.h"
#include "util/internal_iterator.h"

namespace pmlsm {

class MergingIterator final : public InternalIterator {
 public:
  MergingIterator(const Comparator* comparator, std::vector<std::unique_ptr<InternalIterator>> sources);

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& key, Tag tag) override;
  void SeekForPrev(const Slice& key, Tag tag) override;
  void Next() override;
  void Prev() override;
  Status status() const override { return status_; }

 private:
  bool Before(const InternalIterator* a, const InternalIterator* b) const;
  void BuildHeap(bool forward);
  void SiftDown(size_t place);
  void AfterTopMoved();
  void TakeHead();

  const Comparator* const comparator_;
  const std::vector<std::unique_ptr<InternalIterator>> sources_;
  std::vector<InternalIterator*> heap_;
  bool forward_ = true;
  Status status_;
};

}  // namespace pmlsm
