#include "primitives/persister.h"

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

Status LoggedPersister::Commit() {
  if (status_.ok()) status_ = FenceWrites();
  for (const StagedWords::Word& staged : staged_) {
    if (status_.ok()) status_ = transaction_.Add(staged.word, sizeof(*staged.word));
    if (status_.ok()) store_->Store8(staged.word, staged.value);
  }
  if (status_.ok()) {
    status_ = transaction_.Commit();
  } else {
    transaction_.Abort();
  }
  staged_.Clear();
  Status result = status_;
  status_ = Status::OK();
  return result;
}

void PublishingPersister::PublishNow(uint64_t* word, uint64_t value) {
  if (status_.ok()) status_ = FenceWrites();
  if (!status_.ok()) return;
  store_->Store8(word, value);
  store_->FlushLines(word, sizeof(*word));
  status_ = store_->Fence();
}

Status AtomicPersister::Commit() {
  CHECK(staged_.count() == 1);
  PublishNow(staged_.begin()->word, staged_.begin()->value);
  staged_.Clear();
  Status result = status_;
  status_ = Status::OK();
  return result;
}

Status PmwcasPersister::Commit() {
  if (staged_.count() == 1) {
    PublishNow(staged_.begin()->word, staged_.begin()->value);
  } else if (status_.ok()) {
    FlushNoted();
    Pmwcas::Change changes[kWordsMax];
    uint32_t count = 0;
    for (const StagedWords::Word& staged : staged_) {
      changes[count++] = {staged.word, *staged.word, staged.value};
    }
    bool changed = false;
    status_ = thread_->Execute(changes, count, &changed);
    CHECK(changed || !status_.ok());
    NoteFence();
  }
  staged_.Clear();
  Status result = status_;
  status_ = Status::OK();
  return result;
}

}  // namespace pmlsm::primitives
