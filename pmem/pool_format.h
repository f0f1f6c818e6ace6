// The root object of a pool (doc/FORMAT.md, "Pool"). Constants and structs only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pmlsm {

inline constexpr char kPoolLayout[] = "pmlsm";  // libpmemobj's layout name
inline constexpr uint64_t kPoolMagic = 0x006d736c6d70 /* "pmlsm" */;
// One number for everything persistent; it rises with each change of any format.
inline constexpr uint32_t kFormatVersion = 1;

// Groups are few by construction: group_bytes >= max_pmem_bytes / kGroupsMax.
inline constexpr uint64_t kGroupsMax = 4096;

struct PoolHeader {
  uint64_t magic;
  uint32_t format_version;
  uint32_t checksum;      // Checksum32 of this header with this field 0
  uint64_t extent_bytes;  // power of two
  uint64_t group_bytes;   // usual size of a group; a larger one is made for a larger span
  uint64_t max_pmem_bytes;
  uint64_t client_offset;  // of the area that the layer above owns (the manifest), from the pool's start
  uint64_t client_bytes;
  uint8_t identity[16];   // random, one a DB
  uint8_t reserved[184];  // zero
};
static_assert(sizeof(PoolHeader) == 256);
static_assert(offsetof(PoolHeader, identity) == 56);

// A group directory entry. libpmemobj stores `object` (a PMEMoid) in its own atomic allocation, so an entry
// is all there or free (object.offset == 0); the usable size is asked from libpmemobj.
struct GroupEntry {
  uint64_t object_pool_uuid;
  uint64_t object_offset;
};
static_assert(sizeof(GroupEntry) == 16);

// Root object: PoolHeader, then `created` (kPoolMagic once creation is complete, stored last), then the
// directory.
struct RootObject {
  PoolHeader header;
  uint64_t created;
  uint8_t reserved[248];  // zero
  GroupEntry groups[kGroupsMax];
  // The client area follows at header.client_offset, aligned to 256 B.
};
static_assert(offsetof(RootObject, created) == 256);
static_assert(offsetof(RootObject, groups) == 512);

}  // namespace pmlsm
