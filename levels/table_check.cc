// Table::Check: reads all of a table and proves each rule of doc/FORMAT.md, "Table".
#include <algorithm>
#include <cstring>
#include <string>

#include "levels/table.h"
#include "util/hash.h"

namespace pmlsm {

// Follows the index from node to node and keeps the books.
class Table::Checker : public Index::Visitor {
 public:
  explicit Checker(const Table& table) : table_(table), expected_place_(table.header_.nodes_place) {}

  Damage VisitSeparator(const Slice& separator, bool after, uint64_t place) override {
    if (separator_pending_) return {"two separators in a row", place};
    separator_pending_ = true;
    separator_.assign(separator.data(), separator.size());
    after_ = after;
    const int order = table_.comparator_->Compare(last_key_, separator_);
    if (after ? order != 0 : order >= 0) return {"separator and the node before it", place};
    return {};
  }

  Damage VisitNode(uint64_t place) override {
    Node node;
    if (Damage damage = node.Load(table_.nodes_, place, true)) return damage;
    if (node.ordinal() != nodes_) return {"ordinal", place};
    if (separator_pending_ != (nodes_ > 0)) return {"nodes without a separator between them", place};
    if (node.first_continues() != (separator_pending_ && after_)) return {"first_continues", place};
    if (node.first_continues() != last_continues_) return {"last_continues of the node before", place};
    uint32_t offset = sizeof(NodeHeader) + kNodeBytesPerEntry * node.count();
    for (uint32_t i = 0; i < node.count(); ++i) {
      if (node.offset(i) != offset) return {"slot", place};
      if (Damage damage = VisitEntry(node, i, &offset)) return damage;
    }
    if (!IsZero(place + offset, place + node.bytes())) return {"padding", place};
    if (!IsZero(expected_place_, RoundUpToLine(expected_place_)) || RoundUpToLine(expected_place_) != place) {
      return {"gap before the node", place};
    }
    expected_place_ = place + node.bytes();
    separator_pending_ = false;
    last_continues_ = node.last_continues();
    ++nodes_;
    return {};
  }

  Damage Finish() const {
    const TableHeader& header = table_.header_;
    if (last_continues_) return {"last_continues of the last node", header.nodes_place};
    if (expected_place_ != header.nodes_place + header.nodes_bytes)
      return {"nodes_bytes", header.nodes_place};
    if (nodes_ != header.nodes || entries_ != header.entries || tombstones_ != header.tombstones ||
        user_keys_ != header.user_keys || key_bytes_ != header.key_bytes ||
        value_bytes_ != header.value_bytes || sequence_min_ != header.sequence_min ||
        sequence_max_ != header.sequence_max) {
      return {"counts of the header", 0};
    }
    if (smallest_ != table_.smallest() || last_key_ != table_.largest()) return {"key range", 0};
    return {};
  }

 private:
  bool IsZero(uint64_t from, uint64_t to) const {
    for (; from < to; ++from) {
      if (table_.start_[from] != 0) return false;
    }
    return true;
  }

  // *offset: moves to the entry's end.
  Damage VisitEntry(const Node& node, uint32_t i, uint32_t* offset) {
    Entry entry;
    Entry head;
    bool outside;
    if (Damage damage = node.GetHead(i, true, &head, &outside)) return damage;
    if (Damage damage = node.GetEntry(i, true, &entry)) return damage;
    *offset += sizeof(EntryHeader) + head.key.size() + head.value.size();
    if (outside) {
      if (entry.value.data() != table_.start_ + expected_place_) return {"value out of place", node.place()};
      expected_place_ += entry.value.size();
    }
    const bool first = entries_ == 0;
    const Slice last_key = last_key_;
    const int order =
        first ? -1 : CompareInternal(*table_.comparator_, last_key, last_tag_, entry.key, entry.tag);
    if (order >= 0) return {"order of entries", node.place()};
    const bool same_key = !first && last_key == entry.key;
    if (i == 0) {
      if (same_key != node.first_continues()) return {"first_continues", node.place()};
      if (separator_pending_ && !after_ && table_.comparator_->Compare(separator_, entry.key) > 0) {
        return {"separator and the node after it", node.place()};
      }
      if (first) smallest_ = entry.key.ToString();
    }
    const uint64_t hash = KeyHash(entry.key);
    if (node.fingerprint(i) != Fingerprint(hash)) return {"fingerprint", node.place()};
    if (!same_key && !table_.MayContain(hash)) return {"filter denies a key", node.place()};
    if (static_cast<uint8_t>(TagType(entry.tag)) > kValueTypeMax) return {"type", node.place()};
    if (!same_key) ++user_keys_;
    Count(entry);
    return {};
  }

  void Count(const Entry& entry) {
    last_key_.assign(entry.key.data(), entry.key.size());
    last_tag_ = entry.tag;
    ++entries_;
    const ValueType type = TagType(entry.tag);
    if (IsDeletion(type)) ++tombstones_;
    key_bytes_ += entry.key.size();
    value_bytes_ += entry.value.size();
    sequence_min_ = std::min(sequence_min_, TagSequence(entry.tag));
    sequence_max_ = std::max(sequence_max_, TagSequence(entry.tag));
  }

  const Table& table_;
  uint64_t expected_place_;
  std::string smallest_;
  std::string last_key_;
  Tag last_tag_ = 0;
  bool separator_pending_ = false;
  std::string separator_;
  bool after_ = false;
  bool last_continues_ = false;
  uint64_t nodes_ = 0;
  uint64_t entries_ = 0;
  uint64_t tombstones_ = 0;
  uint64_t user_keys_ = 0;
  uint64_t key_bytes_ = 0;
  uint64_t value_bytes_ = 0;
  uint64_t sequence_min_ = kMaxSequenceNumber;
  uint64_t sequence_max_ = 0;
};

std::vector<Damage> Table::FindRoutingDamage() const {
  std::vector<Damage> damages = index_.FindDamage();
  filter_.FindDamage([&damages](Damage damage) { damages.push_back(damage); });
  return damages;
}

Status Table::Check() const {
  // The header may have been damaged since it was read.
  std::unique_ptr<Table> again;
  if (Status s = Open({comparator_, prefetch_bytes_, 0}, start_, span_, &again); !s.ok()) return s;
  if (memcmp(&again->header_, &header_, sizeof(header_)) != 0) return Corrupt({"header has changed", 0});
  if (header_.filter_place != header_.nodes_place + header_.nodes_bytes ||
      header_.index_place != header_.filter_place + header_.filter_bytes ||
      header_.keys_place != header_.index_place + header_.index_bytes ||
      header_.table_bytes != header_.keys_place + header_.smallest_bytes + header_.largest_bytes) {
    return Corrupt({"regions of the header", 0});
  }
  if (Damage damage = filter_.Check()) return Corrupt(damage);
  Checker checker(*this);
  if (Damage damage = index_.Check(&checker)) return Corrupt(damage);
  if (Damage damage = checker.Finish()) return Corrupt(damage);
  return Status::OK();
}

}  // namespace pmlsm
