// Data nodes of a table: NodeBuilder puts one together, Node reads one in place (doc/FORMAT.md, "Data node").
//
// Nothing that is read from the medium is used before it is checked against the node's and the region's
// bounds, with or without `verify`; `verify` adds the checksums.
//
// Thread safety: a Node is a value; a NodeBuilder belongs to one thread.
#pragma once

#include <memory>

#include "levels/node_format.h"
#include "levels/region.h"
#include "pmlsm/comparator.h"
#include "util/coding.h"
#include "util/internal_key.h"

namespace pmlsm {

// Versions of a key share it.
inline uint8_t Fingerprint(uint64_t key_hash) { return static_cast<uint8_t>(key_hash); }

// Byte order without a virtual call where the comparator is BytewiseComparator().
inline int CompareKeys(const Comparator* comparator, bool bytewise, const Slice& a, const Slice& b) {
  return bytewise ? a.compare(b) : comparator->Compare(a, b);
}

// What is wrong with the entry at `data`, of which `room` bytes may be looked at, or null. A value outside the nodes:
// *outside, and entry->value is its reference. `verify`: against its checksum, of a table with that seed.
const char* ReadEntry(const char* data, uint64_t room, uint64_t seed, bool verify, Entry* entry,
                      bool* outside);

// *value: a reference's bytes; gets the value. What is wrong with it, or null.
const char* ReadOutsideValue(const Region& region, bool verify, Slice* value);

class Node {
 public:
  // Looks at the node at `place`. `verify`: header, fingerprints and slots against their checksum.
  Damage Load(const Region& region, uint64_t place, bool verify);

  uint64_t place() const { return data_ - region_->start; }
  uint32_t count() const { return count_; }
  uint32_t bytes() const { return bytes_; }
  uint32_t ordinal() const { return LoadFixed<uint32_t>(data_ + offsetof(NodeHeader, ordinal)); }
  bool first_continues() const { return (flags() & kNodeFirstContinues) != 0; }
  bool last_continues() const { return (flags() & kNodeLastContinues) != 0; }
  uint8_t fingerprint(uint32_t i) const { return data_[sizeof(NodeHeader) + i]; }
  uint32_t offset(uint32_t i) const { return LoadFixed<uint16_t>(slots_ + i * sizeof(uint16_t)); }

  // Entry i < count(). `verify`: the entry, and a value outside the node, against their checksums.
  Damage GetEntry(uint32_t i, bool verify, Entry* entry) const;
  // All but a value outside the node: entry->value is then its reference.
  Damage GetHead(uint32_t i, bool verify, Entry* entry, bool* outside = nullptr) const;
  // Only its key and tag, unverified: what a search compares.
  Damage GetKey(uint32_t i, Slice* key, Tag* tag) const;

  // The versions of one key that are here.
  struct Versions {
    bool any = false;
    bool visible = false;  // *entry is the newest with sequence <= snapshot
    uint32_t first = 0;    // slots, if any; `last` is right only if none is visible
    uint32_t last = 0;
  };
  Damage Find(const Slice& key, uint8_t fingerprint, SequenceNumber snapshot, bool verify, Entry* entry,
              Versions* versions) const;

  // *slot = the first entry >= (key, tag); count() if there is none. `verify`: the entry before it, whose key
  // bounds the result, is verified; that at *slot is for the caller to verify.
  Damage LowerBound(const Comparator* comparator, bool bytewise, const Slice& key, Tag tag, bool verify,
                    uint32_t* slot) const;

 private:
  uint16_t flags() const { return LoadFixed<uint16_t>(data_ + offsetof(NodeHeader, flags)); }
  Damage Damaged(const char* what) const { return {what, place()}; }
  Damage GetOutsideValue(bool verify, Slice* value) const {
    const char* const what = ReadOutsideValue(*region_, verify, value);
    return what == nullptr ? Damage() : Damaged(what);
  }

  const Region* region_ = nullptr;
  const char* data_ = nullptr;
  const char* slots_ = nullptr;
  uint32_t count_ = 0;
  uint32_t bytes_ = 0;
};

inline const char* ReadEntry(const char* data, uint64_t room, uint64_t seed, bool verify, Entry* entry,
                             bool* outside) {
  if (room < sizeof(EntryHeader)) return "slot";
  const uint32_t lengths = LoadFixed<uint32_t>(data + offsetof(EntryHeader, lengths));
  const uint32_t key_bytes = lengths & kEntryKeyMask;
  const uint32_t value_bytes = (lengths >> kEntryValueShift) & kEntryValueMask;
  const uint32_t entry_bytes = sizeof(EntryHeader) + key_bytes + value_bytes;
  if (entry_bytes > room) return "entry's lengths";
  if (verify && Seal(data + 4, entry_bytes - 4, seed) != LoadFixed<uint32_t>(data)) return "entry's checksum";
  entry->key = Slice(data + sizeof(EntryHeader), key_bytes);
  entry->tag = LoadFixed<uint64_t>(data + offsetof(EntryHeader, tag));
  entry->value = Slice(data + sizeof(EntryHeader) + key_bytes, value_bytes);
  *outside = (lengths & kEntryValueOutside) != 0;
  return nullptr;
}

inline Damage Node::GetHead(uint32_t i, bool verify, Entry* entry, bool* outside) const {
  const uint32_t at = offset(i);
  bool lies_outside;
  const char* const what = ReadEntry(data_ + at, at < bytes_ ? bytes_ - at : 0, region_->seed, verify, entry,
                                     outside == nullptr ? &lies_outside : outside);
  return what == nullptr ? Damage() : Damaged(what);
}

inline Damage Node::GetEntry(uint32_t i, bool verify, Entry* entry) const {
  bool outside;
  if (Damage damage = GetHead(i, verify, entry, &outside)) return damage;
  if (__builtin_expect(outside, 0)) return GetOutsideValue(verify, &entry->value);
  return {};
}

class NodeBuilder {
 public:
  NodeBuilder() = default;

  bool empty() const { return count_ == 0; }
  uint32_t count() const { return count_; }
  // Bytes of the entry itself, the value or reference included.
  static size_t EntryBytes(size_t key_bytes, size_t value_bytes) {
    return sizeof(EntryHeader) + key_bytes + value_bytes;
  }
  // Bytes of a node of that one entry, whole lines.
  static size_t BytesOfOne(size_t entry_bytes) {
    return RoundUpToLine(sizeof(NodeHeader) + kNodeBytesPerEntry + entry_bytes);
  }
  // Bytes of the node, whole lines, as it is, or with one more entry of `entry_bytes`.
  size_t Bytes() const { return RoundUpToLine(UsedBytes()); }
  size_t BytesWith(size_t entry_bytes) const { return RoundUpToLine(UsedBytesWith(entry_bytes)); }
  size_t UsedBytesWith(size_t entry_bytes) const { return UsedBytes() + kNodeBytesPerEntry + entry_bytes; }

  // `outside`: `value` is a ValueReference's bytes.
  void Add(const Slice& key, Tag tag, const Slice& value, bool outside, uint8_t fingerprint);
  // Of the entry added last.
  Slice last_key() const {
    return Slice(entries_.get() + last_offset_ + sizeof(EntryHeader), last_key_bytes_);
  }

  // Writes the node, Bytes() of them, to `to`, and starts anew. `seed` is the TableSeed.
  void Finish(uint32_t ordinal, uint16_t flags, uint64_t place, uint64_t seed, char* to);

 private:
  // A node of more than one entry stays below 64 KiB, so its offsets fit 16 bits.
  static constexpr uint32_t kCountMax = 4096;

  size_t UsedBytes() const { return sizeof(NodeHeader) + kNodeBytesPerEntry * count_ + entries_bytes_; }
  void Reserve(size_t bytes);

  std::unique_ptr<char[]> entries_;
  size_t entries_capacity_ = 0;
  size_t entries_bytes_ = 0;
  size_t last_offset_ = 0;
  size_t last_key_bytes_ = 0;
  uint32_t count_ = 0;
  uint8_t fingerprints_[kCountMax];
  uint16_t offsets_[kCountMax];  // from the first entry
};

}  // namespace pmlsm
