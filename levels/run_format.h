// The persistent layout of a run descriptor (doc/FORMAT.md, "Run descriptor"). Constants and structs only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pmlsm {

inline constexpr uint64_t kRunMagic = 0x3031306e75726d70 /* "pmrun010" */;

inline constexpr uint32_t kRunHasLiveLower = 1;

// Followed by TableReference[tables], then the bytes of live_lower.
struct RunHeader {
  uint64_t magic;
  uint32_t format_version;
  uint32_t checksum;  // Checksum32 of the whole descriptor with this field 0
  uint64_t number;
  uint64_t descriptor_bytes;
  uint64_t entries;      // of all tables
  uint64_t spans_bytes;  // of all tables
  uint32_t tables;       // 1 or more
  uint32_t flags;
  uint32_t live_lower_bytes;
  uint32_t reserved;  // zero
};
static_assert(sizeof(RunHeader) == 64);
static_assert(offsetof(RunHeader, tables) == 48);

struct TableReference {
  uint64_t span_offset;  // from the pool's start
  uint64_t span_bytes;
  uint64_t table_number;
  uint32_t header_checksum;  // the table header's own
  uint32_t reserved;         // zero
};
static_assert(sizeof(TableReference) == 32);
static_assert(offsetof(TableReference, header_checksum) == 24);

}  // namespace pmlsm
