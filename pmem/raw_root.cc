#include "pmem/raw_root.h"

#include <algorithm>
#include <cstring>

#include "pmem/pmdk_descriptor.h"
#include "pmem/pool_create.h"
#include "util/coding.h"
#include "util/hash.h"

namespace pmlsm {
namespace {

// libpmemobj's format 6. Each of its headers has a checksum of its own at a fixed place.
constexpr uint64_t kPoolHeaderBytes = 4096;
constexpr uint64_t kPoolHeaderChecked = 2048;  // what follows counts as zero: it changes with the machine
constexpr uint64_t kPoolHeaderChecksum = 4088;
constexpr uint64_t kDescriptorBytes = 2048;
constexpr uint64_t kDescriptorChecksum = 2040;
constexpr uint64_t kHeapHeaderBytes = 1024;
constexpr uint64_t kHeapHeaderChecksum = 1016;
constexpr char kHeapSignature[] = "MEMORY_HEAP_HDR";
constexpr uint64_t kLanesOffsetOffset = 5120;
constexpr uint64_t kLanesOffset = 5128;  // of their number
// A lane: three logs, each a header of 64 B and room.
constexpr uint64_t kLaneBytes = 3072;
constexpr uint64_t kLanesMax = 1024;
struct LaneLog {
  uint64_t place;
  uint64_t capacity;
};
constexpr LaneLog kLaneLogs[] = {{0, 192}, {256, 640}, {960, 2048}};

// In front of each object: its size, flags in the upper bits.
constexpr uint64_t kBlockHeaderBytes = 16;
constexpr uint64_t kBlockSizeMask = (uint64_t{1} << 48) - 1;
constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kRootAlignment = 16;

uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

// libpmemobj's checksum (Fletcher's, 64 bits). Words of the checksum itself, and from `checked` on, are zero.
uint64_t PmdkChecksum(const char* data, uint64_t bytes, uint64_t checksum_at, uint64_t checked) {
  uint32_t low = 0;
  uint32_t high = 0;
  for (uint64_t at = 0; at < bytes; at += sizeof(uint32_t)) {
    const bool skipped = at >= checked || (at >= checksum_at && at < checksum_at + sizeof(uint64_t));
    if (!skipped) low += LoadFixed<uint32_t>(data + at);
    high += low;
  }
  return uint64_t{high} << 32 | low;
}

// The checksum of zeros is zero, so each caller looks for something else, too.
bool ChecksumMatches(const RawPool& pool, uint64_t offset, uint64_t bytes, uint64_t checksum_at,
                     uint64_t checked) {
  if (!pool.Holds(offset, bytes)) return false;
  return PmdkChecksum(pool.At(offset), bytes, checksum_at, checked) ==
         LoadFixed<uint64_t>(pool.At(offset + checksum_at));
}

// A log's header is zero, or says what its room is; a log goes on in the heap.
bool LaneLogPlausible(const RawPool& pool, uint64_t offset, uint64_t capacity) {
  const char* const header = pool.At(offset);
  const uint64_t next = LoadFixed<uint64_t>(header + 8);
  const uint64_t stored = LoadFixed<uint64_t>(header + 16);
  for (int i = 5; i < 8; ++i) {
    if (LoadFixed<uint64_t>(header + 8 * i) != 0) return false;
  }
  return (stored == capacity || stored == 0) && next < pool.bytes();
}

void CheckLanes(const RawPool& pool, std::vector<PoolDamage>* damages) {
  const uint64_t lanes_offset = LoadFixed<uint64_t>(pool.At(kLanesOffsetOffset));
  const uint64_t lanes = LoadFixed<uint64_t>(pool.At(kLanesOffset));
  if (lanes > kLanesMax || !pool.Holds(lanes_offset, lanes * kLaneBytes))
    return;  // the descriptor is to blame
  for (uint64_t lane = 0; lane < lanes; ++lane) {
    for (const LaneLog& log : kLaneLogs) {
      const uint64_t offset = lanes_offset + lane * kLaneBytes + log.place;
      if (LaneLogPlausible(pool, offset, log.capacity)) continue;
      damages->push_back({"libpmemobj lane " + std::to_string(lane), offset, "log header"});
      break;
    }
  }
}

bool HeaderVerifies(const PoolHeader& header) {
  PoolHeader copy = header;
  copy.checksum = 0;
  return header.magic == kPoolMagic && Checksum32(&copy, sizeof(copy)) == header.checksum;
}

uint64_t FindRoot(const RawPool& pool, std::vector<PoolDamage>* damages) {
  const auto looks_right = [&pool](uint64_t offset) {
    if (offset == 0 || offset % kRootAlignment != 0 || !pool.Holds(offset, sizeof(RootObject))) return false;
    return HeaderVerifies(*pool.At<PoolHeader>(offset)) || pool.At<RootObject>(offset)->created == kPoolMagic;
  };
  const bool has_descriptor = pool.Holds(0, kPmdkDescriptorBytes);
  const uint64_t named = has_descriptor ? PmdkWord(pool.base(), kPmdkRootOffsetOffset) : 0;
  if (looks_right(named)) return named;
  damages->push_back({"libpmemobj root offset", kPmdkRootOffsetOffset, "names no root object of pmlsm"});
  for (uint64_t at = kRootAlignment; pool.Holds(at, sizeof(RootObject)); at += kRootAlignment) {
    if (LoadFixed<uint64_t>(pool.At(at)) == kPoolMagic && HeaderVerifies(*pool.At<PoolHeader>(at))) return at;
  }
  return 0;
}

void CheckHeader(RawRoot* root, const RootObject& object, std::vector<PoolDamage>* damages) {
  const char* what = nullptr;
  if (object.header.magic != kPoolMagic) {
    what = "magic";
  } else if (!HeaderVerifies(object.header)) {
    what = "checksum";
  }
  if (what != nullptr) damages->push_back({"pool header", root->offset, what});
  if (object.created != kPoolMagic) {
    damages->push_back({"pool header", root->offset + offsetof(RootObject, created), "mark of creation"});
  }
  root->header_ok = what == nullptr;
  root->client_offset = RoundUp(root->offset + sizeof(RootObject), kClientAlignment);
  if (!root->header_ok) return;
  root->header = object.header;
  if (object.header.client_offset != root->client_offset) {
    damages->push_back({"pool header", root->offset, "client_offset"});
  }
}

// A group's end is in libpmemobj's header of its block; damaged, the group ends where the next one starts.
void ReadGroups(const RawPool& pool, const RootObject& object, RawRoot* root,
                std::vector<PoolDamage>* damages) {
  std::vector<uint64_t> starts;
  for (uint64_t i = 0; i < kGroupsMax; ++i) {
    const uint64_t offset = object.groups[i].object_offset;
    if (offset == 0) continue;
    if (offset % kBlockHeaderBytes == 0 && offset > kPmdkDescriptorBytes && pool.Holds(offset, kPageBytes)) {
      starts.push_back(offset);
      continue;
    }
    const uint64_t place = root->offset + offsetof(RootObject, groups) + i * sizeof(GroupEntry);
    damages->push_back({"group directory entry " + std::to_string(i), place,
                        "names no place in the pool: " + std::to_string(offset)});
  }
  std::sort(starts.begin(), starts.end());
  for (size_t i = 0; i < starts.size(); ++i) {
    const uint64_t limit = i + 1 < starts.size() ? starts[i + 1] : pool.bytes();
    const uint64_t block = starts[i] - kBlockHeaderBytes;
    const uint64_t bytes = LoadFixed<uint64_t>(pool.At(block)) & kBlockSizeMask;
    uint64_t end = block + bytes;
    if (bytes < kPageBytes || end > limit) {
      damages->push_back({"libpmemobj block header of a group", block, "size " + std::to_string(bytes)});
      end = limit;
    }
    const uint64_t begin = RoundUp(starts[i], kPageBytes);
    if (end > begin) root->groups.push_back({begin, end - begin});
  }
}

}  // namespace

void CheckPmdkStructures(const RawPool& pool, std::vector<PoolDamage>* damages) {
  if (!pool.Holds(0, kPmdkDescriptorBytes)) {
    damages->push_back({"libpmemobj pool header", 0, "the pool is shorter"});
    return;
  }
  if (memcmp(pool.base(), kPmdkSignature, sizeof(kPmdkSignature)) != 0) {
    damages->push_back({"libpmemobj pool header", 0, "signature"});
  } else if (!ChecksumMatches(pool, 0, kPoolHeaderBytes, kPoolHeaderChecksum, kPoolHeaderChecked)) {
    damages->push_back({"libpmemobj pool header", 0, "checksum"});
  }
  if (strncmp(pool.At(kPmdkLayoutOffset), kPoolLayout, kPmdkLayoutBytes) != 0) {
    damages->push_back({"libpmemobj pool descriptor", kPmdkLayoutOffset, "layout name"});
    return;
  }
  if (!ChecksumMatches(pool, kPmdkLayoutOffset, kDescriptorBytes, kDescriptorChecksum, kDescriptorBytes)) {
    damages->push_back({"libpmemobj pool descriptor", kPmdkLayoutOffset, "checksum"});
    return;
  }
  const uint64_t heap = PmdkWord(pool.base(), kPmdkHeapOffsetOffset);
  if (!ChecksumMatches(pool, heap, kHeapHeaderBytes, kHeapHeaderChecksum, kHeapHeaderBytes) ||
      memcmp(pool.At(heap), kHeapSignature, sizeof(kHeapSignature)) != 0) {
    damages->push_back({"libpmemobj heap header", heap, "checksum"});
  }
  CheckLanes(pool, damages);
}

RawRoot ReadRawRoot(const RawPool& pool, std::vector<PoolDamage>* damages) {
  RawRoot root;
  root.offset = FindRoot(pool, damages);
  if (root.offset == 0) {
    damages->push_back({"pool header", 0, "not found"});
    return root;
  }
  const RootObject& object = *pool.At<RootObject>(root.offset);
  CheckHeader(&root, object, damages);
  ReadGroups(pool, object, &root, damages);
  return root;
}

}  // namespace pmlsm
