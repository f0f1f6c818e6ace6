#include "db/merging_iterator.h"

#include <utility>

#include "util/check.h"

namespace pmlsm {

MergingIterator::MergingIterator(const Comparator* comparator,
                                 std::vector<std::unique_ptr<InternalIterator>> sources)
    : comparator_(comparator), sources_(std::move(sources)) {
  heap_.reserve(sources_.size());
}

bool MergingIterator::Before(const InternalIterator* a, const InternalIterator* b) const {
  const int order =
      CompareInternal(*comparator_, a->entry().key, a->entry().tag, b->entry().key, b->entry().tag);
  return forward_ ? order < 0 : order > 0;
}

void MergingIterator::SiftDown(size_t place) {
  InternalIterator* const moved = heap_[place];
  for (;;) {
    size_t child = 2 * place + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && Before(heap_[child + 1], heap_[child])) ++child;
    if (!Before(heap_[child], moved)) break;
    heap_[place] = heap_[child];
    place = child;
  }
  heap_[place] = moved;
}

void MergingIterator::BuildHeap(bool forward) {
  forward_ = forward;
  status_ = Status::OK();
  heap_.clear();
  for (const auto& source : sources_) {
    if (source->valid()) {
      heap_.push_back(source.get());
    } else if (status_.ok()) {
      status_ = source->status();
    }
  }
  for (size_t place = heap_.size() / 2; place-- > 0;) SiftDown(place);
  TakeHead();
}

void MergingIterator::TakeHead() {
  valid_ = !heap_.empty() && status_.ok();
  if (valid_) entry_ = heap_[0]->entry();
}

void MergingIterator::AfterTopMoved() {
  if (heap_[0]->valid()) {
    SiftDown(0);
  } else {
    if (status_.ok()) status_ = heap_[0]->status();
    heap_[0] = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) SiftDown(0);
  }
  TakeHead();
}

void MergingIterator::SeekToFirst() {
  for (const auto& source : sources_) source->SeekToFirst();
  BuildHeap(true);
}

void MergingIterator::SeekToLast() {
  for (const auto& source : sources_) source->SeekToLast();
  BuildHeap(false);
}

void MergingIterator::Seek(const Slice& key, Tag tag) {
  for (const auto& source : sources_) source->PrepareSeek(key);
  for (const auto& source : sources_) source->Seek(key, tag);
  BuildHeap(true);
}

void MergingIterator::SeekForPrev(const Slice& key, Tag tag) {
  for (const auto& source : sources_) source->SeekForPrev(key, tag);
  BuildHeap(false);
}

void MergingIterator::Next() {
  DCHECK(valid_);
  if (!forward_) {
    const InternalIterator* const current = heap_[0];
    for (const auto& source : sources_) {
      if (source.get() != current) source->Seek(entry_.key, entry_.tag);
    }
    heap_[0]->Next();
    BuildHeap(true);
    return;
  }
  heap_[0]->Next();
  AfterTopMoved();
}

void MergingIterator::Prev() {
  DCHECK(valid_);
  if (forward_) {
    const InternalIterator* const current = heap_[0];
    for (const auto& source : sources_) {
      if (source.get() != current) source->SeekForPrev(entry_.key, entry_.tag);
    }
    heap_[0]->Prev();
    BuildHeap(false);
    return;
  }
  heap_[0]->Prev();
  AfterTopMoved();
}

}  // namespace pmlsm
