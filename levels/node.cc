#include "levels/node.h"

#include <emmintrin.h>

#include <cstring>

#include "util/check.h"

namespace pmlsm {

Damage Node::Load(const Region& region, uint64_t place, bool verify) {
  if (place % kLineBytes != 0 || !region.Holds(place, kLineBytes)) return {"outside the nodes", place};
  region_ = &region;
  data_ = region.start + place;
  NodeHeader header;
  memcpy(&header, data_, sizeof(header));
  const size_t front_bytes = sizeof(NodeHeader) + kNodeBytesPerEntry * header.count;
  // Whole lines, so 16-byte loads of fingerprints stay inside.
  if (header.count == 0 || header.node_bytes % kLineBytes != 0 || header.node_bytes < front_bytes ||
      !region.Holds(place, header.node_bytes)) {
    return {"header", place};
  }
  if (verify && Seal(data_ + 4, front_bytes - 4, region.seed + place) != header.checksum) {
    return {"header's checksum", place};
  }
  slots_ = data_ + sizeof(NodeHeader) + header.count;
  count_ = header.count;
  bytes_ = header.node_bytes;
  return {};
}

const char* ReadOutsideValue(const Region& region, bool verify, Slice* value) {
  ValueReference reference;
  if (value->size() != sizeof(reference)) return "value reference";
  memcpy(&reference, value->data(), sizeof(reference));
  if (!region.Holds(reference.place, reference.bytes)) return "value's place";
  *value = Slice(region.start + reference.place, reference.bytes);
  if (verify && Seal(value->data(), value->size(), region.seed) != reference.checksum) {
    return "value's checksum";
  }
  return nullptr;
}

Damage Node::GetKey(uint32_t i, Slice* key, Tag* tag) const {
  const uint32_t at = offset(i);
  if (at + sizeof(EntryHeader) > bytes_) return Damaged("slot");
  const char* const data = data_ + at;
  const uint32_t key_bytes = LoadFixed<uint32_t>(data + offsetof(EntryHeader, lengths)) & kEntryKeyMask;
  if (key_bytes > bytes_ - at - sizeof(EntryHeader)) return Damaged("entry's lengths");
  *key = Slice(data + sizeof(EntryHeader), key_bytes);
  *tag = LoadFixed<uint64_t>(data + offsetof(EntryHeader, tag));
  return {};
}

Damage Node::Find(const Slice& key, uint8_t fingerprint, SequenceNumber snapshot, bool verify, Entry* entry,
                  Versions* versions) const {
  const char* const fingerprints = data_ + sizeof(NodeHeader);
  const __m128i wanted = _mm_set1_epi8(static_cast<char>(fingerprint));
  for (uint32_t base = 0; base < count_; base += 16) {
    const __m128i have = _mm_loadu_si128(reinterpret_cast<const __m128i*>(fingerprints + base));
    uint32_t candidates = _mm_movemask_epi8(_mm_cmpeq_epi8(have, wanted));
    if (count_ - base < 16) candidates &= (1u << (count_ - base)) - 1;
    for (; candidates != 0; candidates &= candidates - 1) {
      const uint32_t i = base + __builtin_ctz(candidates);
      // Verified even if the key differs: it may differ because it is damaged.
      bool outside;
      if (Damage damage = GetHead(i, verify, entry, &outside)) return damage;
      if (entry->key != key) continue;
      if (!versions->any) versions->first = i;
      versions->any = true;
      versions->last = i;
      if (TagSequence(entry->tag) <= snapshot) {
        versions->visible = true;
        if (outside) return GetOutsideValue(verify, &entry->value);
        return {};
      }
    }
  }
  return {};
}

Damage Node::LowerBound(const Comparator* comparator, bool bytewise, const Slice& key, Tag tag, bool verify,
                        uint32_t* slot) const {
  uint32_t low = 0;
  uint32_t high = count_;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    Slice middle_key;
    Tag middle_tag;
    if (Damage damage = GetKey(middle, &middle_key, &middle_tag)) return damage;
    const int order = CompareKeys(comparator, bytewise, middle_key, key);
    if (order < 0 || (order == 0 && middle_tag > tag)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  *slot = low;
  // Both neighbours of the result were compared. If they are what was written, no damaged key between the
  // ends of the search can have led it astray.
  Entry before;
  if (verify && low > 0) return GetHead(low - 1, verify, &before);
  return {};
}

void NodeBuilder::Reserve(size_t bytes) {
  if (bytes <= entries_capacity_) return;
  entries_capacity_ = bytes < 4096 ? 4096 : bytes * 2;
  std::unique_ptr<char[]> larger(new char[entries_capacity_]);
  if (entries_bytes_ > 0) memcpy(larger.get(), entries_.get(), entries_bytes_);
  entries_ = std::move(larger);
}

void NodeBuilder::Add(const Slice& key, Tag tag, const Slice& value, bool outside, uint8_t fingerprint) {
  CHECK(count_ < kCountMax && entries_bytes_ <= UINT16_MAX);
  CHECK(key.size() <= kEntryKeyMask && value.size() <= kEntryValueMask);
  const size_t entry_bytes = EntryBytes(key.size(), value.size());
  Reserve(entries_bytes_ + entry_bytes);
  char* const to = entries_.get() + entries_bytes_;
  EntryHeader header;
  header.lengths = static_cast<uint32_t>(key.size()) |
                   static_cast<uint32_t>(value.size()) << kEntryValueShift |
                   (outside ? kEntryValueOutside : 0);
  header.tag = tag;
  header.checksum = 0;
  memcpy(to, &header, sizeof(header));
  memcpy(to + sizeof(header), key.data(), key.size());
  memcpy(to + sizeof(header) + key.size(), value.data(), value.size());

  fingerprints_[count_] = fingerprint;
  offsets_[count_] = static_cast<uint16_t>(entries_bytes_);
  ++count_;
  last_offset_ = entries_bytes_;
  last_key_bytes_ = key.size();
  entries_bytes_ += entry_bytes;
}

void NodeBuilder::Finish(uint32_t ordinal, uint16_t flags, uint64_t place, uint64_t seed, char* to) {
  const size_t node_bytes = Bytes();
  NodeHeader header;
  header.checksum = 0;
  header.node_bytes = static_cast<uint32_t>(node_bytes);
  header.ordinal = ordinal;
  header.count = static_cast<uint16_t>(count_);
  header.flags = flags;
  memcpy(to, &header, sizeof(header));
  memcpy(to + sizeof(header), fingerprints_, count_);
  char* const slots = to + sizeof(header) + count_;
  const size_t front_bytes = sizeof(header) + kNodeBytesPerEntry * count_;
  CHECK(front_bytes + offsets_[count_ - 1] <= UINT16_MAX);
  for (uint32_t i = 0; i < count_; ++i) {
    StoreFixed(slots + i * sizeof(uint16_t), static_cast<uint16_t>(front_bytes + offsets_[i]));
    // Not in Add: hashing bytes that were stored a moment ago stalls on stores that are still on their way.
    char* const entry = entries_.get() + offsets_[i];
    const size_t entry_end = i + 1 < count_ ? offsets_[i + 1] : entries_bytes_;
    StoreFixed(entry, Seal(entry + 4, entry_end - offsets_[i] - 4, seed));
  }
  memcpy(to + front_bytes, entries_.get(), entries_bytes_);
  memset(to + front_bytes + entries_bytes_, 0, node_bytes - front_bytes - entries_bytes_);
  StoreFixed(to, Seal(to + 4, front_bytes - 4, seed + place));
  count_ = 0;
  entries_bytes_ = 0;
}

}  // namespace pmlsm
