#include "primitives/fresh_writes.h"

namespace pmlsm::primitives {

void FreshWrites::NoteForFlush(uintptr_t from, size_t bytes) {
  const uintptr_t begin = from / kCacheLineBytes * kCacheLineBytes;
  const uintptr_t end = (from + bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
  if (begin > noted_end_ || begin < noted_begin_) FlushNoted();
  if (noted_begin_ == noted_end_) {
    noted_begin_ = begin;
    noted_end_ = end;
  } else if (end > noted_end_) {
    noted_end_ = end;
  }
}

void FreshWrites::FlushNoted() {
  if (noted_begin_ == noted_end_) return;
  store_->FlushLines(reinterpret_cast<const void*>(noted_begin_), noted_end_ - noted_begin_);
  noted_begin_ = noted_end_ = 0;
  fence_is_due_ = true;
}

Status FreshWrites::FenceWrites() {
  FlushNoted();
  if (!fence_is_due_) return Status::OK();
  fence_is_due_ = false;
  return store_->Fence();
}

}  // namespace pmlsm::primitives
