#include "memtable/sorted_rep.h"

#include <algorithm>
#include <new>

#include "util/check.h"
#include "util/prefetch.h"

namespace pmlsm {
namespace {

// Inner nodes hold at least a few children each, so no tree that fits a machine is higher.
constexpr size_t kHeightMax = 24;

constexpr size_t kWordsPerCacheLine = Arena::kCacheLineBytes / sizeof(uint64_t);

// A node leaves out more of its keys' common prefix than its predecessor only where that gains this much:
// new words cost a look at every key.
constexpr size_t kSkipStepBytes = 4;

// At the edge of the tree keys to come may share less than those that are there: that much is kept in the
// words.
constexpr size_t kEdgeReserveBytes = 4;

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

inline SortedRep::InnerSlot SortedRep::SlotOf(const Inner& node, size_t i) {
  return InnerSlot{node.words[i], node.separators[i], node.children[i].load(std::memory_order_relaxed)};
}

SortedRep::SortedRep(const Comparator* comparator) : order_(comparator) {
  Leaf* const leaf = new (node_arena_.AllocateCacheLines(sizeof(Leaf))) Leaf;
  static_cast<NodeBounds&>(*leaf) = NodeBounds{};
  root_.store(NodeRef(leaf, 0, WordView{}), std::memory_order_release);
}

// --- Readers ---

bool SortedRep::Leads(const MemEntry& separator, const Target& target) const {
  const int order = order_.Compare(separator.key(), separator.tag, target.key, target.tag);
  return order < 0 || (order == 0 && !target.before);
}

// Null, an open lower bound, comes first.
bool SortedRep::SeparatorBefore(const MemEntry* a, const MemEntry* b) const {
  if (a == b || b == nullptr) return false;
  return a == nullptr || order_.Compare(*a, *b) < 0;
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
    if (node.words[i] == word && node.separators[i] != nullptr && !Leads(*node.separators[i], target))
      continue;
    if (node.words[i] == node.words[index] && SeparatorBefore(node.separators[i], node.separators[index])) {
      continue;
    }
    index = i;  // of equal separators the last one
  }
  return index;
}

NodeRef SortedRep::FindLeaf(const Target& target) const {
  NodeRef ref = root_.load(std::memory_order_acquire);
  while (!ref.is_leaf()) {
    const Inner& node = *ref.inner();
    const size_t child = ChildIndex(node, ref, WordIn(ref, target.key), target);
    ref = node.children[child].load(std::memory_order_acquire);
  }
  return ref;
}

NodeRef SortedRep::FirstLeaf() const {
  NodeRef ref = root_.load(std::memory_order_acquire);
  while (!ref.is_leaf()) {
    const Inner& node = *ref.inner();
    size_t first = 0;
    for (size_t i = ref.sorted(); i < ref.slots(); ++i) {
      if (node.separators[i] == node.separators[0]) first = i;
    }
    ref = node.children[first].load(std::memory_order_acquire);
  }
  return ref;
}

NodeRef SortedRep::LastLeaf() const {
  NodeRef ref = root_.load(std::memory_order_acquire);
  while (!ref.is_leaf()) {
    const Inner& node = *ref.inner();
    size_t last = ref.sorted() - 1;
    for (size_t i = ref.sorted(); i < ref.slots(); ++i) {
      if (!SeparatorBefore(node.separators[i], node.separators[last])) last = i;
    }
    ref = node.children[last].load(std::memory_order_acquire);
  }
  return ref;
}

size_t SortedRep::CopySorted(NodeRef ref, Slot* to) const {
  const Leaf& leaf = *ref.leaf();
  for (size_t i = 0; i < ref.sorted(); ++i) to[i] = leaf.slot(i);
  for (size_t i = ref.sorted(); i < ref.slots(); ++i) {
    const Slot added = leaf.slot(i);
    size_t place = i;
    for (; place > 0 && Before(added, to[place - 1]); --place) to[place] = to[place - 1];
    to[place] = added;
  }
  return ref.slots();
}

inline const MemEntry* SortedRep::FindInSorted(const Leaf& leaf, NodeRef ref, uint64_t word, const Slice& key,
                                               Tag tag) const {
  const uint64_t* at = leaf.words;
  size_t n = ref.sorted();
  while (n > 0) {  // the first word that is not less
    const size_t half = n / 2;
    at += (at[half] < word) * (n - half);
    n = half;
  }
  size_t index = at - leaf.words;
  const auto same_word = [&](size_t i) { return i < ref.sorted() && leaf.words[i] == word; };
  if (!same_word(index)) return nullptr;
  if (same_word(index + 1)) {
    size_t limit = index + 1;
    while (same_word(limit)) ++limit;
    index = std::partition_point(leaf.entries + index, leaf.entries + limit,
                                 [&](const MemEntry* entry) {
                                   return order_.Compare(entry->key(), entry->tag, key, tag) < 0;
                                 }) -
            leaf.entries;
    if (index == limit) return nullptr;
  }
  return leaf.entries[index];
}

// The newest version that the snapshot sees is the first entry >= (key, tag): in this leaf, or else the first
// of the next.
bool SortedRep::Get(const Slice& key, SequenceNumber snapshot, Entry* entry) const {
  const Tag tag = SeekTag(snapshot);
  const NodeRef ref = FindLeaf(Target{key, tag});
  const Leaf& leaf = *ref.leaf();
  // Fetched together, or each step of the search would wait for a line of its own.
  for (size_t i = 0; i < ref.slots(); i += kWordsPerCacheLine) {
    PrefetchLine(&leaf.words[i]);
    PrefetchLine(&leaf.entries[i]);
  }
  const uint64_t word = WordIn(ref, key);
  const MemEntry* best = nullptr;
  const auto consider = [&](const MemEntry* candidate) {
    if (candidate->tag <= tag && (best == nullptr || candidate->tag > best->tag) && candidate->key() == key) {
      best = candidate;
    }
  };
  const MemEntry* const in_sorted = FindInSorted(leaf, ref, word, key, tag);
  if (in_sorted != nullptr) consider(in_sorted);
  for (size_t i = ref.sorted(); i < ref.slots(); ++i) {
    if (leaf.words[i] == word) consider(leaf.entries[i]);
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
    ref_ = ref;
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
    const MemEntry* const high = ref_.leaf()->high;
    valid_ = false;
    if (high != nullptr) SeekToStartOf(rep_->FindLeaf(Target{high->key(), high->tag}));
  }
  void GoLeft() {
    const MemEntry* const low = ref_.leaf()->low;
    valid_ = false;
    if (low != nullptr) SeekToEndOf(rep_->FindLeaf(Target{low->key(), low->tag, true}));
  }
  // Entries of the leaf that come before (key, tag).
  size_t CountBefore(const Slice& key, Tag tag) const {
    const uint64_t word = rep_->WordIn(ref_, key);
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
  NodeRef ref_;
  size_t slots_ = 0;
  size_t index_ = 0;
  Slot copy_[Leaf::kSlots];
};

std::unique_ptr<InternalIterator> SortedRep::NewIterator() const { return std::make_unique<Iterator>(this); }

// --- The writer ---

// 1. Write the entry. 2. Append its slot. 3. Publish the leaf's reference that counts the slot.
void SortedRep::Insert(const Slice& key, Tag tag, const Slice& value) {
  const MemEntry* const entry =
      MemEntry::Encode(entry_arena_.Allocate(MemEntry::Bytes(key, value)), key, tag, value);
  const Target target{key, tag};
  Path path;
  path.Push(&root_);
  while (!path.last().ref.is_leaf()) {
    const NodeRef ref = path.last().ref;
    Inner& node = *ref.inner();
    path.Push(&node.children[ChildIndex(node, ref, WordIn(ref, key), target)]);
  }
  const auto [where, ref] = path.last();
  const Slot added{WordIn(ref, key), entry};
  const size_t slots = ref.slots();
  if (slots < Leaf::kSlots) {
    ref.leaf()->words[slots] = added.word;
    ref.leaf()->entries[slots] = added.entry;
    where->store(ref.WithMoreSlots(1), std::memory_order_release);
  } else {
    SplitLeaf(&path, added);
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
  const NodeRef left = NewLeaf(slots, left_n, NodeBounds{leaf.low, separator, nullptr}, ref);
  const NodeRef right = NewLeaf(slots + left_n, n - left_n, NodeBounds{separator, leaf.high, nullptr}, ref);
  Replace(path, left, separator, right);
}

void SortedRep::Replace(Path* path, NodeRef left) {
  path->last().where->store(left, std::memory_order_release);
}

void SortedRep::Replace(Path* path, NodeRef left, const MemEntry* separator, NodeRef right) {
  if (path->length == 1) {
    const NodeRef before = path->last().ref;
    const InnerSlot children[] = {{0, nullptr, left}, {WordIn(before, separator->key()), separator, right}};
    root_.store(NewInner(children, 2, NodeBounds{}, before), std::memory_order_release);
    return;
  }
  const auto [where, parent] = path->parent();
  const size_t slots = parent.slots();
  if (slots + 2 > Inner::kSlots || slots + 2 - parent.sorted() > Inner::kAppendedMax) {
    SplitInner(path, left, separator, right);
    return;
  }
  Inner& node = *parent.inner();
  const size_t replaced = path->last().where - node.children;
  node.words[slots] = node.words[replaced];
  node.separators[slots] = node.separators[replaced];
  node.children[slots].store(left, std::memory_order_relaxed);
  node.words[slots + 1] = WordIn(parent, separator->key());
  node.separators[slots + 1] = separator;
  node.children[slots + 1].store(right, std::memory_order_relaxed);
  where->store(parent.WithMoreSlots(2), std::memory_order_release);
}

// Replaces the parent of the path's last node by one or two sorted copies that hold left and right.
void SortedRep::SplitInner(Path* path, NodeRef left, const MemEntry* separator, NodeRef right) {
  const NodeRef ref = path->parent().ref;
  const Inner& node = *ref.inner();
  const size_t replaced = path->last().where - node.children;
  InnerSlot slots[Inner::kSlots + 1];
  size_t n = 0;
  const auto insert = [&](const InnerSlot& added) {
    size_t place = n;
    const auto before = [&](const InnerSlot& at) {
      return added.word < at.word ||
             (added.word == at.word && SeparatorBefore(added.separator, at.separator));
    };
    while (place > 0 && before(slots[place - 1])) --place;
    if (place > 0 && slots[place - 1].separator == added.separator) {
      slots[place - 1] = added;  // the later one counts
      return;
    }
    std::copy_backward(slots + place, slots + n, slots + n + 1);
    slots[place] = added;
    ++n;
  };
  for (size_t i = 0; i < ref.sorted(); ++i) slots[n++] = SlotOf(node, i);
  for (size_t i = ref.sorted(); i < ref.slots(); ++i) insert(SlotOf(node, i));
  insert(InnerSlot{node.words[replaced], node.separators[replaced], left});
  insert(InnerSlot{WordIn(ref, separator->key()), separator, right});
  --path->length;
  if (n + Inner::kAppendedMax <= Inner::kSlots) {
    Replace(path, NewInner(slots, n, node, ref));
    return;
  }
  const bool ascending = node.high == nullptr && slots[n - 1].separator == separator;
  const size_t left_n = ascending ? n - 1 : n / 2;
  const MemEntry* const middle = slots[left_n].separator;
  const NodeRef left_half = NewInner(slots, left_n, NodeBounds{node.low, middle, nullptr}, ref);
  const NodeRef right_half =
      NewInner(slots + left_n, n - left_n, NodeBounds{middle, node.high, nullptr}, ref);
  Replace(path, left_half, middle, right_half);
}

NodeRef SortedRep::NewLeaf(const Slot* slots, size_t n, const NodeBounds& bounds, NodeRef from) {
  Leaf* const leaf = new (node_arena_.AllocateCacheLines(sizeof(Leaf))) Leaf;
  static_cast<NodeBounds&>(*leaf) = bounds;
  bool same_words = false;
  const NodeRef ref(leaf, n, ChooseView(slots[0].entry, slots[n - 1].entry, from, leaf, &same_words));
  for (size_t i = 0; i < n; ++i) {
    leaf->words[i] = same_words ? slots[i].word : WordIn(ref, slots[i].entry->key());
    leaf->entries[i] = slots[i].entry;
  }
  return ref;
}

NodeRef SortedRep::NewInner(const InnerSlot* slots, size_t n, const NodeBounds& bounds, NodeRef from) {
  Inner* const inner = new (node_arena_.AllocateCacheLines(sizeof(Inner))) Inner;
  static_cast<NodeBounds&>(*inner) = bounds;
  bool same_words = false;
  const MemEntry* const first = bounds.low == nullptr && n > 1 ? slots[1].separator : bounds.low;
  const NodeRef ref(inner, n, ChooseView(first, slots[n - 1].separator, from, inner, &same_words));
  for (size_t i = 0; i < n; ++i) {
    const MemEntry* const separator = slots[i].separator;
    const bool keep = same_words || separator == nullptr;
    inner->words[i] = keep ? slots[i].word : WordIn(ref, separator->key());
    inner->separators[i] = separator;
    inner->children[i].store(slots[i].child, std::memory_order_relaxed);
  }
  return ref;
}

WordView SortedRep::ChooseView(const MemEntry* first, const MemEntry* last, NodeRef from, NodeBounds* bounds,
                               bool* same_words) const {
  const bool edge = bounds->low == nullptr || bounds->high == nullptr;
  const WordView before = from.view();
  const char* const prefix_before = from.bounds()->prefix;
  // Are the words that the entries have now those of a prefix that all of them share?
  const bool fits =
      !before.clamped || (first != nullptr && first->key().starts_with(Slice(prefix_before, before.skip)) &&
                          last->key().starts_with(Slice(prefix_before, before.skip)));
  const size_t reserve = edge ? kEdgeReserveBytes : 0;
  size_t shared = 0;
  if (!edge) {
    shared = order_.CommonPrefixBytes(bounds->low->key(), bounds->high->key());
  } else if (first != last) {
    shared = order_.CommonPrefixBytes(first->key(), last->key());
  } else if (fits) {
    shared = before.skip;  // one key says nothing about those to come
  }
  shared = std::min(shared, NodeRef::kSkipMax);
  *same_words = fits && before.skip <= shared && shared < before.skip + kSkipStepBytes + reserve;
  const size_t skip = *same_words ? before.skip : shared - std::min(shared, reserve);
  const WordView view{skip, edge && skip > 0};
  if (view.clamped) bounds->prefix = *same_words ? prefix_before : first->key_data();
  return view;
}

}  // namespace pmlsm
