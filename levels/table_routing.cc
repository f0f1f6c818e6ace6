// A Table's routing: made, and read by.
#include "levels/table_routing.h"

#include "levels/table.h"
#include "util/hash.h"

namespace pmlsm {

// Whoever comes first makes it; others go on without. One that cannot be made is not tried again, but for want of DRAM.
void Table::MakeRouting() const {
  if (routing_budget_ == nullptr || routing_begun_.exchange(true, std::memory_order_acq_rel)) return;
  const uint64_t bytes = TableRouting::BytesFor(header_);
  if (!routing_budget_->Take(bytes)) {
    routing_begun_.store(false, std::memory_order_release);
    return;
  }
  auto routing = std::make_unique<TableRouting>(header_);
  if (FillRouting(routing.get())) {
    routing_.store(routing.release(), std::memory_order_release);
  } else {
    routing_budget_->Return(bytes);
  }
}

bool Table::FillRouting(TableRouting* routing) const {
  Index::Cursor at;
  Node node;
  if (index_.First(&at) || node.Load(nodes_, at.place(), true) || node.ordinal() != 0) return false;
  uint64_t user_keys = 0;
  Slice last_key;
  for (;;) {
    const uint64_t next = at.next_place();
    if (next != 0) PrefetchNode(next);
    for (uint32_t i = 0; i < node.count(); ++i) {
      Entry entry;
      if (node.GetHead(i, true, &entry)) return false;
      if (user_keys > 0 && entry.key == last_key) continue;
      last_key = entry.key;
      if (++user_keys > header_.user_keys) return false;
      routing->keys().Insert(KeyHash(entry.key), static_cast<uint32_t>(node.place() + node.offset(i)));
    }
    if (node.ordinal() + 1 == header_.nodes) return user_keys == header_.user_keys;
    if (NextNode(true, &at, &node)) return false;
  }
}

Damage Table::FindRouted(const TableRouting& routing, const Slice& key, uint64_t key_hash,
                         SequenceNumber snapshot, bool verify, Entry* entry, Hit* hit) const {
  Damage damage;
  *hit = Hit::kNone;
  routing.keys().Find(key_hash, [&](uint32_t place) {
    const char* const data = nodes_.start + place;
    // In the nodes, since it was there when it was verified; the lengths may be other ones by now.
    const uint64_t room = nodes_.end - place;
    bool outside;
    // Verified even if the key differs: it may differ because it is damaged.
    const char* what = ReadEntry(data, room, nodes_.seed, verify, entry, &outside);
    if (what == nullptr && entry->key != key) return false;
    const bool visible = TagSequence(entry->tag) <= snapshot;
    if (what == nullptr && visible && outside) what = ReadOutsideValue(nodes_, verify, &entry->value);
    if (what != nullptr) {
      damage = {what, place};
      return true;
    }
    *hit = visible ? Hit::kFound : Hit::kTooNew;
    return true;
  });
  return damage;
}

}  // namespace pmlsm
