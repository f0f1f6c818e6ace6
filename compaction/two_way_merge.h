// TwoWayMerge: two sorted sources as one (Figure 3(b) of the paper, streaming form). See merged_stream.h.
#pragma once

#include <memory>

#include "compaction/forward_iterator.h"
#include "pmlsm/comparator.h"

namespace pmlsm {

class TwoWayMerge final : public ForwardIterator {
 public:
  TwoWayMerge(const Comparator* comparator, std::unique_ptr<InternalIterator> a,
              std::unique_ptr<InternalIterator> b);

  void SeekToFirst() override;
  void Next() override;
  Status status() const override;

 private:
  void TakeHead();

  const Comparator* const comparator_;
  const std::unique_ptr<InternalIterator> a_;
  const std::unique_ptr<InternalIterator> b_;
  InternalIterator* head_ = nullptr;
};

}  // namespace pmlsm
