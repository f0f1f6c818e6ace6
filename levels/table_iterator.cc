#include "levels/table_iterator.h"

namespace pmlsm {

bool TableCursor::LoadNode() {
  table_->PrefetchNode(at_.place());
  return !Failed(node_.Load(table_->nodes_, at_.place(), verify_));
}

bool TableCursor::NextNode() {
  slot_ = node_.count() - 1;
  if (node_.ordinal() + 1 >= table_->header_.nodes) return false;
  if (Failed(table_->NextNode(verify_, &at_, &node_))) return false;
  slot_ = 0;
  Prefetch();
  return true;
}

bool TableCursor::PrevNode() {
  if (node_.ordinal() == 0) return false;
  if (Failed(table_->PrevNode(verify_, &at_, &node_))) return false;
  slot_ = node_.count() - 1;
  return true;
}

bool TableCursor::SeekToFirst(Entry* entry) {
  damage_ = {};
  if (Failed(table_->index_.First(&at_)) || !LoadNode()) return false;
  if (node_.ordinal() != 0) return !Failed({"node is not the first one", at_.place()});
  slot_ = 0;
  Prefetch();
  return Read(entry);
}

bool TableCursor::SeekToLast(Entry* entry) {
  damage_ = {};
  if (Failed(table_->index_.Last(&at_)) || !LoadNode()) return false;
  if (node_.ordinal() + 1 != table_->header_.nodes) return !Failed({"node is not the last one", at_.place()});
  slot_ = node_.count() - 1;
  return Read(entry);
}

// The index led to node_, where everything is >= (key, tag): so must be everything after, if the entry before
// the node is < (key, tag).
bool TableCursor::LeftRight(const Slice& key, Tag tag) {
  if (node_.ordinal() == 0) return true;
  Index::Cursor at = at_;
  Node previous = node_;
  if (Failed(table_->PrevNode(true, &at, &previous))) return false;
  Entry last;
  if (Failed(previous.GetHead(previous.count() - 1, true, &last))) return false;
  const int order = CompareKeys(table_->comparator_, table_->bytewise_, last.key, key);
  if (order < 0 || (order == 0 && last.tag > tag)) return true;
  return !Failed({"index leads past the key", node_.place()});
}

void TableCursor::PrepareSeek(const Slice& key) {
  prepared_ = true;
  damage_ = {};
  if (!Failed(table_->index_.Find(key, &at_))) table_->PrefetchNode(at_.place());
}

// The versions of one key may fill many nodes: walk on from the first that may hold it. Walking only ever
// starts too early if the index is damaged, not too late (LeftRight), so the result is right.
bool TableCursor::Seek(const Slice& key, Tag tag, Entry* entry) {
  const Table& table = *table_;
  if (!prepared_) PrepareSeek(key);
  prepared_ = false;
  if (!ok() || Failed(node_.Load(table.nodes_, at_.place(), verify_))) return false;
  for (bool first_node = true;; first_node = false) {
    if (Failed(node_.LowerBound(table.comparator_, table.bytewise_, key, tag, verify_, &slot_))) return false;
    if (first_node && slot_ == 0 && verify_ && !LeftRight(key, tag)) return false;
    if (slot_ < node_.count()) {
      if (!first_node) Prefetch();
      return Read(entry);
    }
    if (!NextNode()) return false;
  }
}

bool TableCursor::SeekForPrev(const Slice& key, Tag tag, Entry* entry) {
  const bool there = Seek(key, tag, entry);
  if (!ok()) return false;
  if (!there) return SeekToLast(entry);
  if (entry->tag == tag && entry->key == key) return true;
  return Prev(entry);
}

}  // namespace pmlsm
