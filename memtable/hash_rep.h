// HashRep: the unordered memtable. Cheap to fill; sorted when it is flushed or scanned.
//
// A directory, indexed by the top bits of the key's hash, leads to segments: small open-addressing tables
// from hash to the newest version, which leads to the older ones.
//
// One writer; readers take no lock, never wait and never retry. Invariants:
// 1. A slot's hash is written once, before its chain is published, and never again; a slot with a chain stays
//    in use. So a reader that probes meets its hash or an empty slot, and an empty slot ends the search.
// 2. A chain holds all versions of the keys with one 64-bit hash, by descending tag. A new version is linked
//    completely before one release store makes it reachable.
// 3. A full segment is not changed: it is replaced by two that share its hashes, or by a larger one, complete
//    before they are published. Likewise the directory. What was replaced stays for the readers that have
//    come to it, until the rep is destroyed, and is complete for all that was inserted before they began.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "memtable/entry.h"
#include "memtable/key_order.h"
#include "memtable/memtable_rep.h"
#include "memtable/word_sort.h"
#include "util/arena.h"

namespace pmlsm {

class HashRep final : public MemTableRep {
 public:
  explicit HashRep(const Comparator* comparator);

  // Costs a walk along the key's newer versions: nothing when versions come in the order of their tags.
  void Insert(const Slice& key, Tag tag, const Slice& value) override;
  bool Get(const Slice& key, SequenceNumber snapshot, Entry* entry) const override;
  // Sees what was inserted before it was made, and nothing that came later.
  std::unique_ptr<InternalIterator> NewIterator() const override;
  size_t ApproximateBytes() const override {
    return node_arena_.bytes_in_use() + index_arena_.bytes_in_use();
  }
  size_t entries() const override { return entries_.load(std::memory_order_relaxed); }

 private:
  class Iterator;
  struct Node;
  struct Slot;
  struct Segment;
  struct Directory;

  const Segment* FindSegment(uint64_t hash) const;
  Slot* FindSlot(Segment* segment, uint64_t hash) const;
  void LinkVersion(std::atomic<Node*>* head, Node* added);
  // Makes room in the segment of hash.
  void Grow(uint64_t hash);
  Segment* NewSegment(uint32_t slots, uint32_t depth);
  Directory* NewDirectory(uint32_t depth);
  void CopySlot(const Slot& from, Segment* to) const;
  void ReplaceByLarger(Directory* directory, const Segment* full, uint64_t hash);
  Directory* DoubleDirectory(const Directory& before);
  // All versions of all keys, in no order.
  void CollectEntries(std::vector<WordEntry>* to) const;

  const KeyOrder order_;
  Arena node_arena_;
  Arena index_arena_;
  std::atomic<Directory*> directory_;
  size_t segments_ = 1;
  std::atomic<size_t> entries_{0};
};

}  // namespace pmlsm
