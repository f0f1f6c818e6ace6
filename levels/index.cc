#include "levels/index.h"

#include <algorithm>
#include <cstring>

#include "util/check.h"

namespace pmlsm {
namespace {

size_t RoundUpTo8(size_t bytes) { return (bytes + 7) & ~size_t{7}; }

}  // namespace

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
  const uint64_t heads = sizeof(IndexHeader) + RoundUpTo8(header.common_bytes);
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
  const char* const data = region_.start + place;
  const IndexHeader& header = view.header;
  if (Seal(data + 4, header.node_bytes - 4, region_.seed + place) != header.checksum) {
    return {"index checksum", place};
  }
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

// What the open node would take with more separators; its separators share common_bytes.
uint64_t IndexBuilder::OpenBytes(const Level& level, size_t more_children, size_t more_bytes,
                                 size_t common_bytes) {
  const size_t children = level.words.size() + more_children;
  const size_t separators = children > 0 ? children - 1 : 0;
  const size_t rests_bytes = level.separators.size() + more_bytes - separators * common_bytes;
  const size_t end_bytes = rests_bytes > UINT16_MAX ? sizeof(uint32_t) : sizeof(uint16_t);
  return RoundUpToLine(sizeof(IndexHeader) + RoundUpTo8(common_bytes) +
                       separators * (sizeof(uint64_t) + end_bytes) + children * sizeof(uint32_t) +
                       rests_bytes);
}

uint64_t IndexBuilder::BytesMax() const {
  // Each separator lies in one node. An open node grows to at most its target, or stays one of two children.
  // Finish and one Add split a level at most once, and may add a root.
  uint64_t bytes = 2 * kNodeOverhead;
  for (const Level& level : levels_) {
    const uint64_t open = OpenBytes(level, 0, 0, level.common_bytes);
    bytes += level.closed.size() + std::max<uint64_t>(open, kIndexNodeBytes) +
             SeparatorBytes(level.low.size()) + kNodeOverhead;
  }
  return bytes;
}

void IndexBuilder::Add(uint64_t place, const Slice& separator, bool after) {
  AddTo(0, static_cast<uint32_t>(place / kLineBytes), separator, after);
}

void IndexBuilder::AddTo(size_t level_number, uint32_t word, const Slice& separator, bool after) {
  if (levels_.size() == level_number) levels_.emplace_back();
  if (levels_[level_number].words.empty() && levels_[level_number].starts.empty()) {
    levels_[level_number].words.push_back(word);  // the first of its level has no separator before it
    return;
  }
  Level* level = &levels_[level_number];
  size_t common_bytes = 0;
  if (bytewise_) {
    common_bytes = separator.size();
    if (!level->ends.empty()) {
      const Slice first(level->separators.data(), level->ends[0]);
      const size_t shared_max = std::min(level->common_bytes, separator.size());
      common_bytes = 0;
      while (common_bytes < shared_max && first[common_bytes] == separator[common_bytes]) ++common_bytes;
    }
  }
  if (level->words.size() >= UINT16_MAX ||
      (level->words.size() >= 2 && OpenBytes(*level, 1, separator.size(), common_bytes) > kIndexNodeBytes)) {
    CloseNode(level_number);
    level = &levels_[level_number];  // closing may add a level
    level->low.assign(separator.data(), separator.size());
    level->low_after = after;
    level->words.push_back(word);
    return;
  }
  level->words.push_back(word | (after ? kChildAfter : 0));
  level->separators.append(separator.data(), separator.size());
  level->ends.push_back(level->separators.size());
  level->common_bytes = common_bytes;
}

// Moves the open node to the closed ones and its place, counted from the level's start, to the level above.
void IndexBuilder::CloseNode(size_t level_number) {
  Level* level = &levels_[level_number];
  const size_t start = level->closed.size();
  EncodeOpenNode(level_number, &level->closed);
  level->starts.push_back(start);
  level->previous_bytes = static_cast<uint32_t>(level->closed.size() - start);
  level->words.clear();
  level->separators.clear();
  level->ends.clear();
  level->common_bytes = 0;
  const std::string low = std::move(level->low);
  AddTo(level_number + 1, static_cast<uint32_t>(start / kLineBytes), low, level->low_after);
}

void IndexBuilder::EncodeOpenNode(size_t level_number, std::string* to) const {
  const Level& level = levels_[level_number];
  const size_t separators = level.ends.size();
  const size_t common_bytes = level.common_bytes;
  const size_t rests_bytes = level.separators.size() - separators * common_bytes;
  const size_t start = to->size();
  IndexHeader header = {};
  header.node_bytes = static_cast<uint32_t>(OpenBytes(level, 0, 0, common_bytes));
  header.previous_bytes = level.previous_bytes;
  header.common_bytes = static_cast<uint32_t>(common_bytes);
  header.children = static_cast<uint16_t>(level.words.size());
  header.level = static_cast<uint8_t>(level_number);
  header.flags = (bytewise_ ? kIndexBytewise : 0) | (rests_bytes > UINT16_MAX ? kIndexWide : 0);
  to->append(reinterpret_cast<const char*>(&header), sizeof(header));
  to->append(level.separators.data(), common_bytes);
  to->resize(start + sizeof(header) + RoundUpTo8(common_bytes), 0);

  std::string rests;
  std::string ends;
  for (size_t i = 0; i < separators; ++i) {
    const size_t from = (i == 0 ? 0 : level.ends[i - 1]) + common_bytes;
    const Slice rest(level.separators.data() + from, level.ends[i] - from);
    rests.append(rest.data(), rest.size());
    if ((header.flags & kIndexWide) != 0) {
      PutFixed(&ends, static_cast<uint32_t>(rests.size()));
    } else {
      PutFixed(&ends, static_cast<uint16_t>(rests.size()));
    }
    if (bytewise_) PutFixed(to, KeyHead(rest));
  }
  for (const uint32_t word : level.words) PutFixed(to, word);
  to->append(ends);
  to->append(rests);
  CHECK(to->size() <= start + header.node_bytes);
  to->resize(start + header.node_bytes, 0);
}

void IndexBuilder::Finish(uint64_t place, uint64_t seed, std::string* to, uint64_t* root_place,
                          uint32_t* levels) {
  CHECK(!levels_.empty());
  for (size_t level = 0; level < levels_.size(); ++level) {
    if (level + 1 == levels_.size() && levels_[level].starts.empty()) {
      EncodeOpenNode(level, &levels_[level].closed);  // the root
      levels_[level].starts.push_back(0);
      break;
    }
    CloseNode(level);
  }
  uint64_t level_place = place;
  uint64_t children_place = 0;  // where the level below starts; data nodes' places are final
  for (Level& level : levels_) {
    for (const size_t start : level.starts) {
      char* const node = &level.closed[start];
      IndexHeader header;
      memcpy(&header, node, sizeof(header));
      char* word = node + sizeof(header) + RoundUpTo8(header.common_bytes);
      if (bytewise_) word += (header.children - 1) * sizeof(uint64_t);
      for (uint32_t i = 0; i < header.children; ++i, word += sizeof(uint32_t)) {
        StoreFixed(word, static_cast<uint32_t>(LoadFixed<uint32_t>(word) + children_place / kLineBytes));
      }
      StoreFixed(node, Seal(node + 4, header.node_bytes - 4, seed + level_place + start));
    }
    to->append(level.closed);
    children_place = level_place;
    level_place += level.closed.size();
  }
  *root_place = level_place - levels_.back().closed.size();
  *levels = static_cast<uint32_t>(levels_.size());
}

}  // namespace pmlsm
