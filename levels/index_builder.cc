#include <algorithm>
#include <cstring>

#include "levels/index.h"
#include "util/check.h"

namespace pmlsm {

// What the open node would take with more separators; its separators share common_bytes.
uint64_t IndexBuilder::OpenBytes(const Level& level, size_t more_children, size_t more_bytes,
                                 size_t common_bytes) {
  const size_t children = level.words.size() + more_children;
  const size_t separators = children > 0 ? children - 1 : 0;
  const size_t rests_bytes = level.separators.size() + more_bytes - separators * common_bytes;
  const size_t end_bytes = rests_bytes > UINT16_MAX ? sizeof(uint32_t) : sizeof(uint16_t);
  return RoundUpToLine(sizeof(IndexHeader) + IndexRoundUp(common_bytes) +
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
  to->resize(start + sizeof(header) + IndexRoundUp(common_bytes), 0);

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
      char* word = node + sizeof(header) + IndexRoundUp(header.common_bytes);
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
