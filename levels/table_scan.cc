#include "levels/table_scan.h"

#include <algorithm>

namespace pmlsm {

TableScan::TableScan(const char* start, Span span, uint64_t table_number, const Comparator* comparator)
    : region_{start, sizeof(TableHeader), std::max<uint64_t>(span.bytes, sizeof(TableHeader)),
              TableSeed(table_number)},
      comparator_(comparator),
      nodes_(UINT64_MAX),
      place_(region_.begin) {}

TableScan::TableScan(const char* start, Span span, const TableHeader& header, const Slice& smallest,
                     const Slice& largest, const Comparator* comparator)
    : region_{start, header.nodes_place, header.nodes_place + header.nodes_bytes,
              TableSeed(header.table_number)},
      comparator_(comparator),
      nodes_(header.nodes),
      largest_(largest.ToString()),
      place_(region_.begin),
      last_key_(smallest.ToString()) {}

bool TableScan::Next(Entry* entry) {
  for (;;) {
    if (!in_node_ || slot_ == node_.count()) {
      if (NextNode()) continue;
      SettleUpTo(largest_);
      return false;
    }
    if (!TakeEntry(slot_++, entry)) continue;
    last_key_ = entry->key.ToString();
    last_tag_ = entry->tag;
    SettleUpTo(last_key_);
    ++entries_;
    return true;
  }
}

// Lines that hold no node are values that lie outside the nodes, or a node that is lost.
bool TableScan::NextNode() {
  in_node_ = false;
  slot_ = 0;
  const uint64_t searched_from = place_;
  for (; region_.Holds(place_, kLineBytes); place_ += kLineBytes) {
    if (node_.Load(region_, place_, true)) continue;
    if (node_.ordinal() < next_ordinal_ || node_.ordinal() >= nodes_) continue;
    if (node_.ordinal() > next_ordinal_) {
      Lose("nodes do not verify", searched_from, place_, node_.ordinal() - next_ordinal_);
    }
    next_ordinal_ = node_.ordinal() + uint64_t{1};
    place_ += node_.bytes();
    in_node_ = true;
    return true;
  }
  if (nodes_ != UINT64_MAX && next_ordinal_ < nodes_) {
    Lose("nodes do not verify", searched_from, region_.end, nodes_ - next_ordinal_);
    next_ordinal_ = nodes_;
  }
  return false;
}

bool TableScan::TakeEntry(uint32_t i, Entry* entry) {
  const uint64_t end = node_.place() + node_.bytes();
  if (Damage damage = node_.GetEntry(i, true, entry)) {
    Lose(damage.what, node_.place(), end, 0);
    // Only its value may be lost: then its key is known.
    Entry head;
    if (node_.GetHead(i, true, &head)) return false;
    lost_.back().from = lost_.back().to = head.key.ToString();
    return false;
  }
  const bool ascends =
      !last_tag_ || CompareInternal(*comparator_, *last_key_, *last_tag_, entry->key, entry->tag) < 0;
  if (!ascends) Lose("order of entries", node_.place(), end, 0);
  return ascends;
}

void TableScan::Lose(const char* what, uint64_t place, uint64_t end, uint64_t nodes) {
  lost_.push_back({what, place, end, nodes, last_key_, std::nullopt});
}

void TableScan::SettleUpTo(const std::optional<std::string>& key) {
  for (; settled_ < lost_.size(); ++settled_) {
    if (!lost_[settled_].to) lost_[settled_].to = key;
  }
}

}  // namespace pmlsm
