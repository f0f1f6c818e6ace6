// PmdkDescriptor: what libpmemobj's own pool descriptor says, read from a file without opening the pool. It
// tells a truncated file, which libpmemobj answers with SIGBUS, from a whole one.
//
// The descriptor lies at the start of a pool (format 6 of libpmemobj): 4 KiB header that begins with the
// signature, layout name, and the words named here.
#pragma once

#include <cstdint>
#include <string>

#include "pmlsm/status.h"

namespace pmlsm {

inline constexpr char kPmdkSignature[] = "PMEMOBJ";  // 8 bytes with its zero
inline constexpr uint64_t kPmdkLayoutOffset = 4096;
inline constexpr uint64_t kPmdkLayoutBytes = 1024;
inline constexpr uint64_t kPmdkHeapOffsetOffset = 5136;
inline constexpr uint64_t kPmdkRootOffsetOffset = 6144;
inline constexpr uint64_t kPmdkHeapSizeOffset = 6176;
inline constexpr uint64_t kPmdkDescriptorBytes = 8192;

// libpmemobj's limits: a part of a set, and a pool that pmlsm can use.
inline constexpr uint64_t kPartBytesMin = uint64_t{2} << 20;
inline constexpr uint64_t kPoolBytesMin = uint64_t{16} << 20;

struct PmdkDescriptor {
  bool zero = false;       // no pool at all: the signature's bytes are 0
  bool signature = false;  // it is a libpmemobj pool
  std::string layout;
  uint64_t heap_offset = 0;
  uint64_t heap_bytes = 0;   // grows with the pool
  uint64_t root_offset = 0;  // 0 = no root object yet

  // The pool's bytes that libpmemobj may touch.
  uint64_t pool_bytes() const { return heap_offset + heap_bytes; }
};

// IOError "truncated" if the file is shorter than a descriptor.
Status ReadPmdkDescriptor(const std::string& path, PmdkDescriptor* descriptor);

// Reads `bytes` at `offset` of a file, or of a device that can only be mapped.
Status ReadRaw(const std::string& path, uint64_t offset, void* to, size_t bytes);

// The word at `offset` of an open pool.
inline uint64_t PmdkWord(const char* base, uint64_t offset) {
  return __atomic_load_n(reinterpret_cast<const uint64_t*>(base + offset), __ATOMIC_RELAXED);
}

}  // namespace pmlsm
