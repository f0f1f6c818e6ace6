// TableCursor: a position in a table that moves both ways; TableIterator: the same as an InternalIterator.
//
// Moves write the entry straight into the owner's, so that a RunIterator needs no copy. Forward moves fetch
// the next node ahead.
//
// Thread safety: one thread at a time. The Table outlives them.
#pragma once

#include "levels/table.h"

namespace pmlsm {

class TableCursor {
 public:
  // Moves return whether there is an entry there, now in *entry. Without one, damage() tells the end from an
  // error.
  bool SeekToFirst(Entry* entry);
  bool SeekToLast(Entry* entry);
  void PrepareSeek(const Slice& key);  // InternalIterator's
  bool Seek(const Slice& key, Tag tag, Entry* entry);
  bool SeekForPrev(const Slice& key, Tag tag, Entry* entry);
  bool Next(Entry* entry) {
    if (++slot_ < node_.count()) return Read(entry);
    return NextNode() && Read(entry);
  }
  bool Prev(Entry* entry) {
    if (slot_ == 0) return PrevNode() && Read(entry);
    --slot_;
    return Read(entry);
  }

  // Another table; a Seek must follow.
  void Reset(const Table* table, bool verify) {
    table_ = table;
    verify_ = verify;
    prepared_ = false;
    damage_ = {};
  }
  const Table* table() const { return table_; }
  bool ok() const { return damage_.what == nullptr; }
  Status status() const { return ok() ? Status::OK() : table_->Corrupt(damage_); }

 private:
  bool Read(Entry* entry) { return !Failed(node_.GetEntry(slot_, verify_, entry)); }
  bool Failed(Damage damage) {
    if (!damage) return false;
    damage_ = damage;
    return true;
  }
  bool LoadNode();
  bool NextNode();  // to its first entry
  bool PrevNode();  // to its last entry
  bool LeftRight(const Slice& key, Tag tag);
  void Prefetch() {
    const uint64_t next = at_.next_place();
    if (next != 0) table_->PrefetchNode(next);
  }

  const Table* table_ = nullptr;
  bool verify_ = true;
  bool prepared_ = false;  // at_ is where a Seek starts
  uint32_t slot_ = 0;
  Node node_;
  Index::Cursor at_;
  Damage damage_;
};

class TableIterator final : public InternalIterator {
 public:
  TableIterator(const Table* table, bool verify) { cursor_.Reset(table, verify); }

  void SeekToFirst() override { valid_ = cursor_.SeekToFirst(&entry_); }
  void SeekToLast() override { valid_ = cursor_.SeekToLast(&entry_); }
  void PrepareSeek(const Slice& key) override { cursor_.PrepareSeek(key); }
  void Seek(const Slice& key, Tag tag) override { valid_ = cursor_.Seek(key, tag, &entry_); }
  void SeekForPrev(const Slice& key, Tag tag) override { valid_ = cursor_.SeekForPrev(key, tag, &entry_); }
  void Next() override { valid_ = cursor_.Next(&entry_); }
  void Prev() override { valid_ = cursor_.Prev(&entry_); }
  Status status() const override { return cursor_.status(); }

 private:
  TableCursor cursor_;
};

}  // namespace pmlsm
