// ForwardIterator: base of the streams that merges read once, from first to last.
#pragma once

#include "util/check.h"
#include "util/internal_iterator.h"

namespace pmlsm {

class ForwardIterator : public InternalIterator {
 public:
  void SeekToLast() final { CHECK(false && "forward only"); }
  void Seek(const Slice&, Tag) final { CHECK(false && "forward only"); }
  void SeekForPrev(const Slice&, Tag) final { CHECK(false && "forward only"); }
  void Prev() final { CHECK(false && "forward only"); }
};

}  // namespace pmlsm
