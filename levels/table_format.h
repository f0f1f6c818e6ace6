// The persistent layout of a table (doc/FORMAT.md, "Table"). Constants and structs only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pmlsm {

inline constexpr uint64_t kTableMagic = 0x31656c6261746d70 /* "pmtable1" */;

struct TableHeader {
  uint64_t magic;
  uint32_t format_version;
  uint32_t
      checksum;  // Checksum32 of header, smallest and largest key, with this field 0; seed: the table number
  uint64_t table_number;
  uint64_t table_bytes;  // all that is used from the table's start
  uint64_t entries;
  uint64_t tombstones;
  uint64_t key_bytes;    // user keys, all entries
  uint64_t value_bytes;  // all entries
  uint64_t sequence_min;
  uint64_t sequence_max;
  uint64_t nodes_place;  // places count from the table's start
  uint64_t nodes_bytes;
  uint64_t filter_place;
  uint64_t filter_bytes;  // 0 = no filter
  uint64_t index_place;
  uint64_t index_bytes;
  uint64_t index_root_place;
  uint64_t range_tombstones_place;  // 0 until range deletes are built
  uint64_t range_tombstones_bytes;
  uint64_t keys_place;  // smallest key, then largest key
  uint32_t smallest_bytes;
  uint32_t largest_bytes;
  uint32_t index_levels;
  uint32_t filter_probes;
  uint64_t nodes;        // data nodes; their ordinals are 0 to nodes - 1
  uint64_t user_keys;    // distinct ones; the other entries are older versions
  uint8_t reserved[64];  // zero
};
static_assert(sizeof(TableHeader) == 256);
static_assert(offsetof(TableHeader, table_number) == 16);
static_assert(offsetof(TableHeader, nodes_place) == 80);
static_assert(offsetof(TableHeader, keys_place) == 152);
static_assert(offsetof(TableHeader, nodes) == 176);
static_assert(offsetof(TableHeader, user_keys) == 184);

}  // namespace pmlsm
