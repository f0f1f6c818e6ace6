// DramMemory: groups of nodes in DRAM for a NodeArena, at offsets from one address, as in a pool.
//
// Thread safety: one thread.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "primitives/node_arena.h"
#include "primitives/node_parts.h"
#include "util/check.h"

namespace pmlsm::primitives {

class DramMemory {
 public:
  // Addresses for `bytes`; pages come as they are touched.
  explicit DramMemory(uint64_t bytes = kBytesDefault)
      : bytes_(bytes),
        base_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                   0)) {
    CHECK(base_ != MAP_FAILED);
  }
  ~DramMemory() { munmap(base_, bytes_); }
  DramMemory(const DramMemory&) = delete;
  DramMemory& operator=(const DramMemory&) = delete;

  char* memory() const { return static_cast<char*>(base_); }

  // This outlives the arena.
  NodeArena NewArena(size_t node_bytes) {
    return NodeArena(memory(), node_bytes, [this](uint64_t* offset, uint64_t* bytes) {
      if (used_ + kGroupBytes > bytes_) return Status::NoSpace("all memory for nodes in DRAM is in use");
      *offset = used_;
      *bytes = kGroupBytes;
      used_ += kGroupBytes;
      return Status::OK();
    });
  }

 private:
  static constexpr uint64_t kBytesDefault = uint64_t{16} << 30;
  static constexpr uint64_t kGroupBytes = uint64_t{1} << 20;

  const uint64_t bytes_;
  void* const base_;
  uint64_t used_ = kLineBytes;  // no node is at 0, the null
};

}  // namespace pmlsm::primitives
