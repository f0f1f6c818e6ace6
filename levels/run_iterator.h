// RunIterator: the tables of a run one after the other, without the keys below live_lower.
//
// Thread safety: one thread at a time. The Run outlives it.
#pragma once

#include <string>

#include "levels/run.h"
#include "levels/table_iterator.h"

namespace pmlsm {

class RunIterator final : public InternalIterator {
 public:
  RunIterator(const Run* run, bool verify) : run_(run), verify_(verify) { Open(0); }

  void SeekToFirst() override;
  void SeekToLast() override;
  void PrepareSeek(const Slice& key) override;
  void Seek(const Slice& key, Tag tag) override;
  void SeekForPrev(const Slice& key, Tag tag) override;
  void Next() override {
    valid_ = cursor_.Next(&entry_);
    if (!valid_) SkipForward();
  }
  void Prev() override {
    valid_ = cursor_.Prev(&entry_);
    if (!valid_) SkipBackward();
    HideDead();
  }
  Status status() const override { return cursor_.status(); }

 private:
  void Open(size_t table) {
    table_ = table;
    cursor_.Reset(&run_->tables_[table]->table(), verify_);
  }
  // Past the end of a table without an error: on to the neighbour, if there is one.
  void SkipForward();
  void SkipBackward();
  // Only the first table may hold keys below live_lower.
  void HideDead() {
    if (valid_ && table_ == 0 && run_->BelowLive(entry_.key)) valid_ = false;
  }

  const Run* const run_;
  const bool verify_;
  bool prepared_ = false;  // cursor_ is, in the table where a Seek starts
  size_t table_ = 0;
  TableCursor cursor_;
};

}  // namespace pmlsm
