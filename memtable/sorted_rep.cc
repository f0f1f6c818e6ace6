#include "memtable/sorted_rep.h"

#include <algorithm>
#include <new>

#include "util/check.h"

namespace pmlsm {
namespace {

// Inner nodes hold at least a few children each, so no tree that fits a machine is higher.
constexpr size_t kHeightMax = 24;

// A node leaves out more of its keys' common prefix than its predecessor only where that gains this much:
// new words cost a look at every key.
constexpr size_t kSkipStepBytes = 4;

}  // namespace

// What is looked for: the last place <= (key, tag), or the last < (key, tag) if before is set.
struct SortedRep::Target {
  Slice key;
  Tag tag;
  bool before = false;
};

// The way from the root to a node: the references that lead to it and where they are stored.
struct SortedRep::Path {
  struct Step {
    std::atomic<NodeRef>* where;
    NodeRef ref;
  };
  Step steps[kHeightMax];
  size_t length = 0;

  void Push(std::atomic<NodeRef>* where) {
    DCHECK(length < kHeightMax);
    // The writer's own stores: no ordering needed.
    steps[length++] = Step{where, where->load(std::memory_order_relaxed)};
  }
  Step& last() { return steps[length - 1]; }
  Step& parent() { return steps[length - 2]; }
};

struct SortedRep::InnerSlot {
  uint64_t word;
  const MemEntry* separator;
  NodeRef child;
};

SortedRep::SortedRep(const Comparator* comparator) : order_(comparator) {
  root_.store(NewLeaf(nullptr, 0, nullptr, nullptr, 0), std::memory_order_release);
}

// --- Readers ---

bool SortedRep::Leads(const MemEntry& separator, const Target& target) const {
  const int order = order_.Compare(separator.key(), separator.tag, target.key, target.tag);
  return order < 0 || (order == 0 && !target.before);
}

// The child with the last separator that Leads to the target. The node's range holds the target, so the first
// child needs no test.
inline size_t SortedRep::ChildIndex(const Inner& node, NodeRef ref, uint64_t word,
                                    const Target& target) const {
  const size_t sorted = ref.sorted();
  const uint64_t* at = node.words;
  for (size_t n = sorted; n > 1;) {  // without branches: they would be mispredicted half of the time
    const size_t half = n / 2;
    at += (at[half] < word) * half;
    n -= half;
  }
  size_t index = at - node.words;
  if (__builtin_expect(index + 1 < sorted && node.words[index + 1] == word, 0)) {
    for (size_t limit = sorted; index + 1 < limit;) {
      const size_t middle = index + (limit - index) / 2;
      const bool leads = node.words[middle] == word && Leads(*node.separators[middle], target);
      (leads ? index : limit) = middle;
    }
  }
  for (size_t i = sorted; i < ref.slots(); ++i) {
    if (node.words[i] > word || node.words[i] < node.words[index]) continue;
    if (node.words[i] == word && !Leads(*node.separators[i], target)) continue;
    if (index > 0 && node.words[i] == node.words[index] &&
        order_.Compare(*node.separators[i], *node.separators[index]) < 0) {
      continue;
    }
    index = i;
  }
  return index;
}

NodeRef SortedRep::FindLeaf(const Target& target) const {
  NodeRef ref = root_.load(std::memory_order_acquire);
  size_t skip = 0;
  uint64_t word = order_.Word(target.key, 0);
  while (!ref.is_leaf()) {
    if (ref.skip() != skip) {
      skip = ref.skip();
      word = order_.Word(target.key, skip);
    }
    const Inner& node = *ref.inner();
    ref = node.children[ChildIndex(node, ref, word, target)].load(std::memory_order_acquire);
  }
  return ref;
}

NodeRef SortedRep::LastLeaf() const {
  NodeRef ref = root_.load(std::memory_order_acquire);
  while (!ref.is_leaf()) {
    const Inner& node = *ref.inner();
    size_t last = ref.sorted() - 1;
    for (size_t i = ref.sorted(); i < ref.slots(); ++i) {
      if (last == 0 ||
          Before(Slot{node.words[last], node.separators[last]}, Slot{node.words[i], node.separators[i]})) {
        last = i;
      }
    }
    ref = node.children[last].load(std::memory_order_acquire);
  }
  return ref;
}

size_t SortedRep::CopySorted(NodeRef ref, Slot* to) const {
  const Leaf& leaf = *ref.leaf();
  std::copy_n(leaf.slots, ref.sorted(), to);
  for (size_t i = ref.sorted(); i < ref.slots(); ++i) {
    const Slot added = leaf.slots[i];
    size_t place = i;
    for (; place > 0 && Before(added, to[place - 1]); --place) to[place] = to[place - 1];
    to[place] = added;
  }
  return ref.slots();
}

bool SortedRep::Get(const Slice& key, SequenceNumber snapshot, Entry* entry) const {
  const Tag tag = SeekTag(snapshot);
  const NodeRef ref = FindLeaf(Target{key, tag});
  const Leaf& leaf = *ref.leaf();
  const uint64_t word = order_.Word(key, ref.skip());
  // The newest version that the snapshot sees is the first entry >= (key, tag): in this leaf, or else the
  // first of the next.
  const MemEntry* best = nullptr;
  const auto consider = [&](const MemEntry* candidate) {
    if (candidate->tag <= tag && (best == nullptr || candidate->tag > best->tag) && candidate->key() == key) {
      best = candidate;
    }
  };
  const Slot* const sorted_end = leaf.slots + ref.sorted();
  const Slot* const first = std::partition_point(leaf.slots, sorted_end, [&](const Slot& slot) {
    return slot.word < word ||
           (slot.word == word && order_.Compare(slot.entry->key(), slot.entry->tag, key, tag) < 0);
  });
  if (first != sorted_end && first->word == word) consider(first->entry);
  for (const Slot* slot = sorted_end; slot != leaf.slots + ref.slots(); ++slot) {
    if (slot->word == word) consider(slot->entry);
  }
  if (best == nullptr && leaf.high != nullptr) consider(leaf.high);
  if (best == nullptr) return false;
  *entry = best->ToEntry();
  return true;
}

// Holds a sorted copy of one leaf's slots, and goes on to the neighbours by the leaf's bounds, which are
// bounds for ever.
class SortedRep::Iterator final : public InternalIterator {
 public:
  explicit Iterator(const SortedRep* rep) : rep_(rep) {}

  void SeekToFirst() override { SeekToStartOf(rep_->FirstLeaf()); }
  void SeekToLast() override { SeekToEndOf(rep_->LastLeaf()); }

  void Seek(const Slice& key, Tag tag) override {
    Enter(rep_->FindLeaf(Target{key, tag}));
    const size_t index = CountBefore(key, tag);
    if (index < slots_) return Place(index);
    GoRight();
  }

  void SeekForPrev(const Slice& key, Tag tag) override {
    Enter(rep_->FindLeaf(Target{key, tag}));
    const KeyOrder& order = rep_->order_;
    size_t index = CountBefore(key, tag);
    if (index < slots_) {
      const MemEntry& at = *copy_[index].entry;
      if (order.Compare(at.key(), at.tag, key, tag) == 0) return Place(index);
    }
    if (index > 0) return Place(index - 1);
    GoLeft();
  }

  void Next() override {
    DCHECK(valid_);
    if (index_ + 1 < slots_) return Place(index_ + 1);
    GoRight();
  }

  void Prev() override {
    DCHECK(valid_);
    if (index_ > 0) return Place(index_ - 1);
    GoLeft();
  }

  Status status() const override { return Status::OK(); }

 private:
  void Enter(NodeRef ref) {
    leaf_ = ref.leaf();
    skip_ = ref.skip();
    slots_ = rep_->CopySorted(ref, copy_);
    valid_ = false;
  }
  void Place(size_t index) {
    index_ = index;
    entry_ = copy_[index].entry->ToEntry();
    valid_ = true;
  }
  void SeekToStartOf(NodeRef ref) {
    Enter(ref);
    if (slots_ > 0) Place(0);
  }
  void SeekToEndOf(NodeRef ref) {
    Enter(ref);
    if (slots_ > 0) Place(slots_ - 1);
  }
  void GoRight() {
    const MemEntry* const high = leaf_->high;
    valid_ = false;
    if (high != nullptr) SeekToStartOf(rep_->FindLeaf(Target{high->key(), high->tag}));
  }
  void GoLeft() {
    const MemEntry* const low = leaf_->low;
    valid_ = false;
    if (low != nullptr) SeekToEndOf(rep_->FindLeaf(Target{low->key(), low->tag, true}));
  }
  // Entries of the leaf that come before (key, tag).
  size_t CountBefore(const Slice& key, Tag tag) const {
    const uint64_t word = rep_->order_.Word(key, skip_);
    return std::partition_point(
               copy_, copy_ + slots_,
               [&](const Slot& slot) {
                 return slot.word < word ||
                        (slot.word == word &&
                         rep_->order_.Compare(slot.entry->key(), slot.entry->tag, key, tag) < 0);
               }) -
           copy_;
  }

  const SortedRep* const rep_;
  const Leaf* leaf_ = nullptr;
  size_t skip_ = 0;
  size_t slots_ = 0;
  size_t index_ = 0;
  Slot copy_[Leaf::kSlots];
};

NodeRef SortedRep::FirstLeaf() const {
  NodeRef ref = root_.load(std::memory_order_acquire);
  while (!ref.is_leaf()) ref = ref.inner()->children[0].load(std::memory_order_acquire);
  return ref;
}

std::unique_ptr<InternalIterator> SortedRep::NewIterator() const { return std::make_unique<Iterator>(this); }

// --- The writer ---

// 1. Write the entry. 2. Append its slot. 3. Publish the leaf's reference that counts the slot.
void SortedRep::Insert(const Slice& key, Tag tag, const Slice& value) {
  const MemEntry* const entry =
      MemEntry::Encode(entry_arena_.Allocate(MemEntry::Bytes(key, value)), key, tag, value);
  const Target target{key, tag};
  Path path;
  path.Push(&root_);
  size_t skip = 0;
  uint64_t word = order_.Word(key, 0);
  for (;;) {
    const NodeRef ref = path.last().ref;
    if (ref.skip() != skip) {
      skip = ref.skip();
      word = order_.Word(key, skip);
    }
    if (ref.is_leaf()) break;
    Inner& node = *ref.inner();
    path.Push(&node.children[ChildIndex(node, ref, word, target)]);
  }
  const auto [where, ref] = path.last();
  if (ref.slots() < Leaf::kSlots) {
    ref.leaf()->slots[ref.slots()] = Slot{word, entry};
    where->store(ref.WithOneMoreSlot(), std::memory_order_release);
  } else {
    SplitLeaf(&path, Slot{word, entry});
  }
  entries_.store(entries_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void SortedRep::SplitLeaf(Path* path, const Slot& added) {
  const NodeRef ref = path->last().ref;
  const Leaf& leaf = *ref.leaf();
  Slot slots[Leaf::kSlots + 1];
  size_t n = CopySorted(ref, slots);
  Slot* const place = std::partition_point(slots, slots + n, [&](const Slot& s) { return Before(s, added); });
  std::copy_backward(place, slots + n, slots + n + 1);
  *place = added;
  const bool ascending = leaf.high == nullptr && place == slots + n;
  ++n;
  // Ascending keys fill their leaves; else both halves get the same room.
  const size_t left_n = ascending ? n - 1 : n / 2;
  const MemEntry* const separator = slots[left_n].entry;
  const NodeRef left = NewLeaf(slots, left_n, leaf.low, separator, ref.skip());
  const NodeRef right = NewLeaf(slots + left_n, n - left_n, separator, leaf.high, ref.skip());
  Replace(path, left, separator, right);
}

void SortedRep::Replace(Path* path, NodeRef left) {
  path->last().where->store(left, std::memory_order_release);
}

void SortedRep::Replace(Path* path, NodeRef left, const MemEntry* separator, NodeRef right) {
  if (path->length == 1) {
    const InnerSlot children[] = {{0, nullptr, left}, {order_.Word(separator->key(), 0), separator, right}};
    root_.store(NewInner(children, 2, nullptr, nullptr, 0), std::memory_order_release);
    return;
  }
  const auto [where, parent] = path->parent();
  const size_t slots = parent.slots();
  if (slots == Inner::kSlots || slots - parent.sorted() == Inner::kAppendedMax) {
    SplitInner(path, left, separator, right);
    return;
  }
  Inner& node = *parent.inner();
  node.words[slots] = order_.Word(separator->key(), parent.skip());
  node.separators[slots] = separator;
  node.children[slots].store(right, std::memory_order_relaxed);
  where->store(parent.WithOneMoreSlot(), std::memory_order_release);
  Replace(path, left);
}

// Replaces the parent of the path's last node by one or two sorted copies that hold left and right.
void SortedRep::SplitInner(Path* path, NodeRef left, const MemEntry* separator, NodeRef right) {
  const NodeRef ref = path->parent().ref;
  const Inner& node = *ref.inner();
  const size_t replaced = path->last().where - node.children;
  InnerSlot slots[Inner::kSlots + 1];
  size_t n = 0;
  const auto insert = [&](const InnerSlot& added) {
    size_t place = n++;
    for (; place > 1 &&
           Before(Slot{added.word, added.separator}, Slot{slots[place - 1].word, slots[place - 1].separator});
         --place) {
      slots[place] = slots[place - 1];
    }
    slots[place] = added;
  };
  for (size_t i = 0; i < ref.slots(); ++i) {
    const NodeRef child = i == replaced ? left : node.children[i].load(std::memory_order_relaxed);
    insert(InnerSlot{node.words[i], node.separators[i], child});
  }
  insert(InnerSlot{order_.Word(separator->key(), ref.skip()), separator, right});
  --path->length;
  if (n + Inner::kAppendedMax <= Inner::kSlots) {
    Replace(path, NewInner(slots, n, node.low, node.high, ref.skip()));
    return;
  }
  const bool ascending = node.high == nullptr && slots[n - 1].separator == separator;
  const size_t left_n = ascending ? n - 1 : n / 2;
  const MemEntry* const middle = slots[left_n].separator;
  const NodeRef left_half = NewInner(slots, left_n, node.low, middle, ref.skip());
  const NodeRef right_half = NewInner(slots + left_n, n - left_n, middle, node.high, ref.skip());
  Replace(path, left_half, middle, right_half);
}

// Words are taken over where the new node leaves out as many bytes as the old one did.
NodeRef SortedRep::NewLeaf(const Slot* slots, size_t n, const MemEntry* low, const MemEntry* high,
                           size_t skip_before) {
  const size_t skip = ChooseSkip(low, high, skip_before);
  Leaf* const leaf = new (node_arena_.AllocateCacheLines(sizeof(Leaf))) Leaf;
  leaf->low = low;
  leaf->high = high;
  std::copy_n(slots, n, leaf->slots);
  if (skip != skip_before) {
    for (size_t i = 0; i < n; ++i) leaf->slots[i].word = order_.Word(slots[i].entry->key(), skip);
  }
  return NodeRef(leaf, n, skip);
}

NodeRef SortedRep::NewInner(const InnerSlot* slots, size_t n, const MemEntry* low, const MemEntry* high,
                            size_t skip_before) {
  const size_t skip = ChooseSkip(low, high, skip_before);
  Inner* const inner = new (node_arena_.AllocateCacheLines(sizeof(Inner))) Inner;
  inner->low = low;
  inner->high = high;
  for (size_t i = 0; i < n; ++i) {
    const MemEntry* const separator = slots[i].separator;
    const bool same_word = skip == skip_before || separator == nullptr;
    inner->words[i] = same_word ? slots[i].word : order_.Word(separator->key(), skip);
    inner->separators[i] = separator;
    inner->children[i].store(slots[i].child, std::memory_order_relaxed);
  }
  return NodeRef(inner, n, skip);
}

size_t SortedRep::ChooseSkip(const MemEntry* low, const MemEntry* high, size_t skip_before) const {
  if (low == nullptr || high == nullptr) return skip_before;
  const size_t common = order_.CommonPrefixBytes(low->key(), high->key());
  return common < skip_before + kSkipStepBytes ? skip_before : std::min(common, NodeRef::kSkipMax);
}

}  // namespace pmlsm
