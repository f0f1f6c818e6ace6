#include "levels/index.h"

#include <algorithm>
#include <cstring>

#include "util/prefetch.h"
#include "util/random.h"

namespace pmlsm {

Index::Index(const Region& region, uint64_t root_place, uint32_t levels, const Comparator* comparator)
    : region_(region),
      root_place_(root_place),
      levels_(levels),
      bytewise_(comparator == BytewiseComparator()),
      comparator_(comparator) {}

uint32_t Index::View::end(uint32_t i) const {
  if ((header.flags & kIndexWide) != 0) return LoadFixed<uint32_t>(ends + i * sizeof(uint32_t));
  return LoadFixed<uint16_t>(ends + i * sizeof(uint16_t));
}

// Bad ends read as an empty rest: the search then goes wrong and the data node shows it.
Slice Index::View::rest(uint32_t i) const {
  const uint32_t from = i == 0 ? 0 : end(i - 1);
  const uint32_t to = end(i);
  if (from > to || to > rests_bytes) return {};
  return Slice(rests + from, to - from);
}

Damage Index::Load(uint64_t place, View* view) const {
  if (place % kLineBytes != 0 || !region_.Holds(place, kLineBytes)) return {"outside the index", place};
  const char* const data = region_.start + place;
  IndexHeader& header = view->header;
  memcpy(&header, data, sizeof(header));
  if (header.children == 0 || header.node_bytes % kLineBytes != 0 ||
      !region_.Holds(place, header.node_bytes) || ((header.flags & kIndexBytewise) != 0) != bytewise_) {
    return {"index header", place};
  }
  const uint64_t separators = header.children - 1u;
  const uint64_t heads = sizeof(IndexHeader) + IndexRoundUp(header.common_bytes);
  const uint64_t words = heads + (bytewise_ ? separators * sizeof(uint64_t) : 0);
  const uint64_t ends = words + header.children * sizeof(uint32_t);
  const uint64_t rests =
      ends + separators * ((header.flags & kIndexWide) != 0 ? sizeof(uint32_t) : sizeof(uint16_t));
  if (rests > header.node_bytes) return {"index header", place};
  view->place = place;
  view->common = data + sizeof(IndexHeader);
  view->heads = data + heads;
  view->words = data + words;
  view->ends = data + ends;
  view->rests = data + rests;
  view->rests_bytes = static_cast<uint32_t>(header.node_bytes - rests);
  return {};
}

Damage Index::LoadLeaf(uint64_t place, View* view) const {
  if (Damage damage = Load(place, view)) return damage;
  if (view->header.level != 0) return {"index level", place};
  return {};
}

// The first separator in [low, high) that does not send a key with this rest to its right; high if there is
// none.
uint32_t Index::FirstNotBelow(const View& view, const Slice& rest, uint32_t low, uint32_t high) const {
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    const int order =
        bytewise_ ? view.rest(middle).compare(rest) : comparator_->Compare(view.rest(middle), rest);
    const bool after = (view.word(middle + 1) & kChildAfter) != 0;
    if (order < 0 || (order == 0 && !after)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

uint32_t Index::ChildBytewise(const View& view, Slice key) const {
  const uint32_t common_bytes = view.header.common_bytes;
  if (common_bytes > 0) {
    const size_t shared = std::min<size_t>(common_bytes, key.size());
    const int order = memcmp(key.data(), view.common, shared);
    if (order < 0 || (order == 0 && shared < common_bytes)) return 0;
    if (order > 0) return view.separators();
    key.remove_prefix(common_bytes);
  }
  // First head >= the key's, without a branch to mispredict.
  const uint64_t head = KeyHead(key);
  uint32_t low = 0;
  uint32_t left = view.separators();
  while (left > 0) {
    const uint32_t half = (left + 1) / 2;
    const bool below = view.head(low + half - 1) < head;
    low = below ? low + half : low;
    left = below ? left - half : half - 1;
  }
  if (low == view.separators() || view.head(low) != head) return low;
  uint32_t high = low + 1;
  while (high < view.separators() && view.head(high) == head) ++high;
  return FirstNotBelow(view, key, low, high);
}

uint32_t Index::ChildFor(const View& view, const Slice& key) const {
  return bytewise_ ? ChildBytewise(view, key) : FirstNotBelow(view, key, 0, view.separators());
}

void Index::Place(const View& leaf, uint32_t child, Cursor* cursor) {
  cursor->words_ = leaf.words;
  cursor->child_ = child;
  cursor->children_ = leaf.header.children;
  cursor->leaf_place_ = leaf.place;
  cursor->leaf_bytes_ = leaf.header.node_bytes;
  cursor->leaf_previous_bytes_ = leaf.header.previous_bytes;
}

Damage Index::Find(const Slice& key, Cursor* cursor) const {
  uint64_t place = root_place_;
  View view;
  for (uint32_t level = levels_ - 1;; --level) {
    if (Damage damage = Load(place, &view)) return damage;
    if (view.header.level != level) return {"index level", place};
    const uint32_t child = ChildFor(view, key);
    if (level == 0) {
      Place(view, child, cursor);
      return {};
    }
    place = uint64_t{view.word(child) & ~kChildAfter} * kLineBytes;
    if (region_.Holds(place, kIndexNodeBytes)) PrefetchLines(region_.start + place, kIndexNodeBytes);
  }
}

Damage Index::First(Cursor* cursor) const {
  View view;
  if (Damage damage = LoadLeaf(region_.begin, &view)) return damage;
  Place(view, 0, cursor);
  return {};
}

Damage Index::Last(Cursor* cursor) const {
  uint64_t place = root_place_;
  View view;
  for (uint32_t level = levels_ - 1;; --level) {
    if (Damage damage = Load(place, &view)) return damage;
    if (view.header.level != level) return {"index level", place};
    const uint32_t child = view.separators();
    if (level == 0) {
      Place(view, child, cursor);
      return {};
    }
    place = uint64_t{view.word(child) & ~kChildAfter} * kLineBytes;
  }
}

Damage Index::Any(uint64_t number, Cursor* cursor) const {
  Random choices(number);
  uint64_t place = root_place_;
  View view;
  for (uint32_t level = levels_ - 1;; --level) {
    if (Damage damage = Load(place, &view)) return damage;
    if (view.header.level != level) return {"index level", place};
    const auto child = static_cast<uint32_t>(choices.Uniform(view.header.children));
    if (level == 0) {
      Place(view, child, cursor);
      return {};
    }
    place = uint64_t{view.word(child) & ~kChildAfter} * kLineBytes;
  }
}

Damage Index::Next(Cursor* cursor) const {
  if (cursor->child_ + 1 < cursor->children_) {
    ++cursor->child_;
    return {};
  }
  View view;
  if (Damage damage = LoadLeaf(cursor->leaf_place_ + cursor->leaf_bytes_, &view)) return damage;
  Place(view, 0, cursor);
  return {};
}

Damage Index::Prev(Cursor* cursor) const {
  if (cursor->child_ > 0) {
    --cursor->child_;
    return {};
  }
  if (cursor->leaf_previous_bytes_ == 0 || cursor->leaf_previous_bytes_ > cursor->leaf_place_) {
    return {"index's previous_bytes", cursor->leaf_place_};
  }
  View view;
  if (Damage damage = LoadLeaf(cursor->leaf_place_ - cursor->leaf_previous_bytes_, &view)) return damage;
  Place(view, view.separators(), cursor);
  return {};
}

bool Index::ChecksumHolds(const View& view) const {
  const char* const data = region_.start + view.place;
  return Seal(data + 4, view.header.node_bytes - 4, region_.seed + view.place) == view.header.checksum;
}

std::vector<Damage> Index::FindDamage() const {
  std::vector<Damage> damages;
  bool in_damage = false;
  for (uint64_t place = region_.begin; place < region_.end;) {
    View view;
    if (!Load(place, &view) && ChecksumHolds(view)) {
      in_damage = false;
      place += view.header.node_bytes;
      continue;
    }
    if (!in_damage) damages.push_back({"index checksum", place});
    in_damage = true;
    place += kLineBytes;
  }
  return damages;
}

struct Index::Walk {
  Visitor* visitor;
  std::vector<uint64_t> next_place;  // by level: where the next node of it must lie
  std::vector<uint32_t> previous_bytes;
  uint64_t nodes_bytes = 0;
};

Damage Index::Check(Visitor* visitor) const {
  // Where each level starts: levels follow each other, lowest first, each reached leftmost from the root.
  Walk walk;
  walk.visitor = visitor;
  walk.next_place.assign(levels_, 0);
  walk.previous_bytes.assign(levels_, 0);
  uint64_t place = root_place_;
  for (uint32_t level = levels_; level-- > 0;) {
    walk.next_place[level] = place;
    View view;
    if (Damage damage = Load(place, &view)) return damage;
    place = uint64_t{view.word(0) & ~kChildAfter} * kLineBytes;
  }
  if (walk.next_place[0] != region_.begin)
    return {"index does not start with its lowest level", region_.begin};
  if (Damage damage = CheckNode(root_place_, levels_ - 1, &walk)) return damage;
  if (walk.nodes_bytes != region_.end - region_.begin)
    return {"index nodes that nothing reaches", region_.begin};
  return {};
}

Damage Index::CheckNode(uint64_t place, uint32_t level, Walk* walk) const {
  View view;
  if (Damage damage = Load(place, &view)) return damage;
  const IndexHeader& header = view.header;
  if (!ChecksumHolds(view)) return {"index checksum", place};
  if (header.level != level) return {"index level", place};
  if (place != walk->next_place[level]) return {"index node out of place", place};
  if (header.previous_bytes != walk->previous_bytes[level]) return {"index's previous_bytes", place};
  walk->next_place[level] = place + header.node_bytes;
  walk->previous_bytes[level] = header.node_bytes;
  walk->nodes_bytes += header.node_bytes;

  std::string separator;
  for (uint32_t i = 0; i < header.children; ++i) {
    const uint64_t child = uint64_t{view.word(i) & ~kChildAfter} * kLineBytes;
    if (i > 0) {
      const Slice rest = view.rest(i - 1);
      separator.assign(view.common, header.common_bytes);
      separator.append(rest.data(), rest.size());
      if (bytewise_ && view.head(i - 1) != KeyHead(rest)) return {"index head", place};
      const bool after = (view.word(i) & kChildAfter) != 0;
      if (Damage damage = walk->visitor->VisitSeparator(separator, after, place)) return damage;
    }
    if (Damage damage = level == 0 ? walk->visitor->VisitNode(child) : CheckNode(child, level - 1, walk)) {
      return damage;
    }
  }
  return {};
}

}  // namespace pmlsm
