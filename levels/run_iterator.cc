#include "levels/run_iterator.h"

namespace pmlsm {

void RunIterator::SkipForward() {
  while (!valid_ && cursor_.ok() && table_ + 1 < run_->tables_.size()) {
    Open(table_ + 1);
    valid_ = cursor_.SeekToFirst(&entry_);
  }
}

void RunIterator::SkipBackward() {
  while (!valid_ && cursor_.ok() && table_ > 0) {
    Open(table_ - 1);
    valid_ = cursor_.SeekToLast(&entry_);
  }
}

void RunIterator::SeekToFirst() {
  if (run_->has_live_lower_) return Seek(run_->live_lower_, kMaxTag);
  Open(0);
  valid_ = cursor_.SeekToFirst(&entry_);
  if (!valid_) SkipForward();
}

void RunIterator::SeekToLast() {
  Open(run_->tables_.size() - 1);
  valid_ = cursor_.SeekToLast(&entry_);
  if (!valid_) SkipBackward();
  HideDead();
}

void RunIterator::PrepareSeek(const Slice& key) {
  prepared_ = false;
  if (run_->BelowLive(key)) return;
  const size_t table = run_->FindTable(key);
  if (table == run_->tables_.size()) return;
  Open(table);
  cursor_.PrepareSeek(key);
  prepared_ = true;
}

void RunIterator::Seek(const Slice& key, Tag tag) {
  if (run_->BelowLive(key)) return Seek(run_->live_lower_, kMaxTag);
  if (!prepared_) PrepareSeek(key);
  if (!prepared_) {
    Open(run_->tables_.size() - 1);
    valid_ = false;
    return;
  }
  prepared_ = false;
  valid_ = cursor_.Seek(key, tag, &entry_);
  if (valid_ || !cursor_.ok()) return;
  // The key's versions here are all newer; older ones may be in the tables that follow.
  while (table_ + 1 < run_->tables_.size()) {
    Open(table_ + 1);
    valid_ = cursor_.Seek(key, tag, &entry_);
    if (valid_ || !cursor_.ok()) return;
  }
}

void RunIterator::SeekForPrev(const Slice& key, Tag tag) {
  // The last table that starts at or before the key holds the last entry <= (key, tag), or all its versions
  // of the key are older and the entry is in a table before.
  size_t table = run_->FindTable(key);
  const size_t tables = run_->tables_.size();
  if (table == tables) table = tables - 1;
  while (table + 1 < tables &&
         run_->comparator_->Compare(run_->tables_[table + 1]->table().smallest(), key) <= 0) {
    ++table;
  }
  Open(table);
  valid_ = cursor_.SeekForPrev(key, tag, &entry_);
  while (!valid_ && cursor_.ok() && table_ > 0) {
    Open(table_ - 1);
    valid_ = cursor_.SeekForPrev(key, tag, &entry_);
  }
  HideDead();
}

}  // namespace pmlsm
