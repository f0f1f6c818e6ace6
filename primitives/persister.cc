#include "primitives/persister.h"

namespace pmlsm::primitives {

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
