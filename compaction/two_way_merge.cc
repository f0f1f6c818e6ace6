#include "compaction/two_way_merge.h"

#include <utility>

namespace pmlsm {

TwoWayMerge::TwoWayMerge(const Comparator* comparator, std::unique_ptr<InternalIterator> a,
                         std::unique_ptr<InternalIterator> b)
    : comparator_(comparator), a_(std::move(a)), b_(std::move(b)) {}

void TwoWayMerge::SeekToFirst() {
  a_->SeekToFirst();
  b_->SeekToFirst();
  TakeHead();
}

void TwoWayMerge::Next() {
  head_->Next();
  TakeHead();
}

void TwoWayMerge::TakeHead() {
  // A source that has failed is invalid too; going on with the other would end the stream with an entry
  // missing.
  valid_ = (a_->valid() || a_->status().ok()) && (b_->valid() || b_->status().ok()) &&
           (a_->valid() || b_->valid());
  if (!valid_) return;
  if (!a_->valid()) {
    head_ = b_.get();
  } else if (!b_->valid()) {
    head_ = a_.get();
  } else {
    const Entry& a = a_->entry();
    const Entry& b = b_->entry();
    head_ = CompareInternal(*comparator_, a.key, a.tag, b.key, b.tag) < 0 ? a_.get() : b_.get();
  }
  entry_ = head_->entry();
}

Status TwoWayMerge::status() const {
  Status s = a_->status();
  return s.ok() ? b_->status() : s;
}

}  // namespace pmlsm
