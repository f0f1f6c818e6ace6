#include "memtable/hash_rep.h"

#include <algorithm>
#include <new>

#include "util/check.h"
#include "util/hash.h"
#include "util/prefetch.h"

namespace pmlsm {
namespace {

constexpr uint32_t kSegmentSlots = 256;

// The directory has at most this many entries for each segment. Beyond, hashes share more top bits than
// chance allows, and the segment that holds them grows instead.
constexpr size_t kDirectoryEntriesPerSegmentMax = 16;

constexpr size_t kPrefetchDistance = 8;

}  // namespace

// A version. Its MemEntry follows.
struct HashRep::Node {
  std::atomic<Node*> older;

  const MemEntry& entry() const { return *reinterpret_cast<const MemEntry*>(this + 1); }
};

struct HashRep::Slot {
  uint64_t hash;              // valid once newest is not null
  std::atomic<Node*> newest;  // null = empty
};

// Slots [0, mask] follow. The low bits of the hash say where probing starts.
struct alignas(16) HashRep::Segment {
  uint32_t depth;  // hashes share their top `depth` bits
  uint32_t mask;
  uint32_t used;  // the writer's

  const Slot* slots() const { return reinterpret_cast<const Slot*>(this + 1); }
  Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }
  bool full() const { return used > mask - mask / 4; }  // three quarters
};

// 2^depth segment pointers follow; a segment fills 2^(depth - its own depth) of them.
struct alignas(8) HashRep::Directory {
  uint32_t depth;

  size_t Index(uint64_t hash) const { return depth == 0 ? 0 : hash >> (64 - depth); }
  std::atomic<Segment*>* segments() { return reinterpret_cast<std::atomic<Segment*>*>(this + 1); }
  const std::atomic<Segment*>* segments() const {
    return reinterpret_cast<const std::atomic<Segment*>*>(this + 1);
  }
};

HashRep::HashRep(const Comparator* comparator) : order_(comparator) {
  Directory* const directory = NewDirectory(0);
  directory->segments()[0].store(NewSegment(kSegmentSlots, 0), std::memory_order_relaxed);
  directory_.store(directory, std::memory_order_release);
}

HashRep::Segment* HashRep::NewSegment(uint32_t slots, uint32_t depth) {
  char* const memory = index_arena_.AllocateCacheLines(sizeof(Segment) + slots * sizeof(Slot));
  Segment* const segment = new (memory) Segment{depth, slots - 1, 0};
  for (uint32_t i = 0; i < slots; ++i) new (segment->slots() + i) Slot{0, nullptr};
  return segment;
}

HashRep::Directory* HashRep::NewDirectory(uint32_t depth) {
  const size_t entries = size_t{1} << depth;
  char* const memory =
      index_arena_.AllocateCacheLines(sizeof(Directory) + entries * sizeof(std::atomic<Segment*>));
  Directory* const directory = new (memory) Directory{depth};
  for (size_t i = 0; i < entries; ++i) new (directory->segments() + i) std::atomic<Segment*>(nullptr);
  return directory;
}

const HashRep::Segment* HashRep::FindSegment(uint64_t hash) const {
  const Directory* const directory = directory_.load(std::memory_order_acquire);
  return directory->segments()[directory->Index(hash)].load(std::memory_order_acquire);
}

// The writer's: the slot of hash, or the empty one for it.
HashRep::Slot* HashRep::FindSlot(Segment* segment, uint64_t hash) const {
  for (uint32_t i = hash & segment->mask;; i = (i + 1) & segment->mask) {
    Slot* const slot = segment->slots() + i;
    if (slot->newest.load(std::memory_order_relaxed) == nullptr || slot->hash == hash) return slot;
  }
}

// 1. Write the node. 2. Make room. 3. Publish the node.
void HashRep::Insert(const Slice& key, Tag tag, const Slice& value) {
  const uint64_t hash = KeyHash(key);
  Segment* segment = const_cast<Segment*>(FindSegment(hash));
  __builtin_prefetch(segment->slots() + (hash & segment->mask), 1);
  Node* const node = new (node_arena_.Allocate(sizeof(Node) + MemEntry::Bytes(key, value))) Node{{nullptr}};
  MemEntry::Encode(reinterpret_cast<char*>(node + 1), key, tag, value);
  if (__builtin_expect(segment->full(), 0)) {
    Grow(hash);
    segment = const_cast<Segment*>(FindSegment(hash));
  }
  Slot* const slot = FindSlot(segment, hash);
  if (slot->newest.load(std::memory_order_relaxed) == nullptr) {
    slot->hash = hash;
    ++segment->used;
  }
  LinkVersion(&slot->newest, node);
  entries_.store(entries_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void HashRep::LinkVersion(std::atomic<Node*>* head, Node* added) {
  std::atomic<Node*>* link = head;
  Node* next = link->load(std::memory_order_relaxed);
  while (next != nullptr && next->entry().tag > added->entry().tag) {
    link = &next->older;
    next = link->load(std::memory_order_relaxed);
  }
  added->older.store(next, std::memory_order_relaxed);
  link->store(added, std::memory_order_release);
}

void HashRep::CopySlot(const Slot& from, Segment* to) const {
  Slot* const slot = FindSlot(to, from.hash);
  slot->hash = from.hash;
  slot->newest.store(from.newest.load(std::memory_order_relaxed), std::memory_order_relaxed);
  ++to->used;
}

void HashRep::Grow(uint64_t hash) {
  Segment* const full = const_cast<Segment*>(FindSegment(hash));
  Directory* directory = directory_.load(std::memory_order_relaxed);
  if (full->depth == directory->depth) {
    if ((size_t{2} << directory->depth) > kDirectoryEntriesPerSegmentMax * segments_) {
      ReplaceByLarger(directory, full, hash);
      return;
    }
    directory = DoubleDirectory(*directory);
  }
  // The next bit of the hash picks the half.
  const uint32_t depth = full->depth + 1;
  Segment* const halves[2] = {NewSegment(full->mask + 1, depth), NewSegment(full->mask + 1, depth)};
  for (uint32_t i = 0; i <= full->mask; ++i) {
    const Slot& slot = full->slots()[i];
    if (slot.newest.load(std::memory_order_relaxed) == nullptr) continue;
    CopySlot(slot, halves[(slot.hash >> (64 - depth)) & 1]);
  }
  const size_t entries = size_t{1} << (directory->depth - full->depth);
  const size_t first = directory->Index(hash) & ~(entries - 1);
  for (size_t i = 0; i < entries; ++i) {
    directory->segments()[first + i].store(halves[i >= entries / 2], std::memory_order_release);
  }
  ++segments_;
  Segment* const half = const_cast<Segment*>(FindSegment(hash));
  if (half->full()) Grow(hash);  // all went to one half
}

HashRep::Directory* HashRep::DoubleDirectory(const Directory& before) {
  Directory* const after = NewDirectory(before.depth + 1);
  for (size_t i = 0; i < size_t{2} << before.depth; ++i) {
    after->segments()[i].store(before.segments()[i / 2].load(std::memory_order_relaxed),
                               std::memory_order_relaxed);
  }
  directory_.store(after, std::memory_order_release);
  return after;
}

void HashRep::ReplaceByLarger(Directory* directory, const Segment* full, uint64_t hash) {
  Segment* const larger = NewSegment(2 * (full->mask + 1), full->depth);
  for (uint32_t i = 0; i <= full->mask; ++i) {
    const Slot& slot = full->slots()[i];
    if (slot.newest.load(std::memory_order_relaxed) != nullptr) CopySlot(slot, larger);
  }
  directory->segments()[directory->Index(hash)].store(larger, std::memory_order_release);
}

bool HashRep::Get(const Slice& key, SequenceNumber snapshot, Entry* entry) const {
  const uint64_t hash = KeyHash(key);
  const Tag tag = SeekTag(snapshot);
  const Segment* const segment = FindSegment(hash);
  for (uint32_t i = hash & segment->mask;; i = (i + 1) & segment->mask) {
    const Slot& slot = segment->slots()[i];
    const Node* node = slot.newest.load(std::memory_order_acquire);
    if (node == nullptr) return false;
    if (slot.hash != hash) continue;
    for (; node != nullptr; node = node->older.load(std::memory_order_acquire)) {
      if (node->entry().tag > tag || node->entry().key() != key) continue;
      *entry = node->entry().ToEntry();
      return true;
    }
    return false;
  }
}

// Walks a sorted array of the entries.
class HashRep::Iterator final : public InternalIterator {
 public:
  explicit Iterator(const HashRep* rep) : order_(rep->order_) {
    rep->CollectEntries(&entries_);
    SortEntries(order_, &entries_);
  }

  void SeekToFirst() override { Place(0); }
  void SeekToLast() override { Place(entries_.size() - 1); }
  void Seek(const Slice& key, Tag tag) override { Place(CountBefore(key, tag, 0)); }
  void SeekForPrev(const Slice& key, Tag tag) override { Place(CountBefore(key, tag, 1) - 1); }
  void Next() override {
    DCHECK(valid_);
    Place(index_ + 1);
  }
  void Prev() override {
    DCHECK(valid_);
    Place(index_ - 1);
  }
  Status status() const override { return Status::OK(); }

 private:
  // An index outside the array (-1 wraps round) is the end.
  void Place(size_t index) {
    index_ = index;
    valid_ = index < entries_.size();
    if (!valid_) return;
    entry_ = entries_[index].entry->ToEntry();
    if (index + kPrefetchDistance < entries_.size()) {
      PrefetchLine(entries_[index + kPrefetchDistance].entry);
    }
  }
  // Entries whose order against (key, tag) is < limit.
  size_t CountBefore(const Slice& key, Tag tag, int limit) const {
    return std::partition_point(entries_.begin(), entries_.end(),
                                [&](const WordEntry& at) {
                                  return order_.Compare(at.entry->key(), at.entry->tag, key, tag) < limit;
                                }) -
           entries_.begin();
  }

  const KeyOrder& order_;
  std::vector<WordEntry> entries_;
  size_t index_ = 0;
};

std::unique_ptr<InternalIterator> HashRep::NewIterator() const { return std::make_unique<Iterator>(this); }

void HashRep::CollectEntries(std::vector<WordEntry>* to) const {
  to->reserve(entries());
  const Directory* const directory = directory_.load(std::memory_order_acquire);
  const size_t directory_entries = size_t{1} << directory->depth;
  for (size_t i = 0; i < directory_entries;) {
    const Segment* const segment = directory->segments()[i].load(std::memory_order_acquire);
    for (uint32_t slot = 0; slot <= segment->mask; ++slot) {
      const Node* node = segment->slots()[slot].newest.load(std::memory_order_acquire);
      for (; node != nullptr; node = node->older.load(std::memory_order_acquire)) {
        to->push_back(WordEntry{0, &node->entry()});
      }
    }
    i += size_t{1} << (directory->depth - segment->depth);
  }
}

}  // namespace pmlsm
