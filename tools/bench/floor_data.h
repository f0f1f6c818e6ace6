// FloorData: as many entries as the run has, in PMem, one behind the other in key order. What the floor reads.
//
// Thread safety: Prepare locks; the rest from any thread once that was OK.
#pragma once

#include <cstdint>
#include <memory>

#include "pmem/extent_allocator.h"
#include "pmem/pool.h"
#include "pmem/store.h"
#include "pmlsm/iterator.h"
#include "util/mutex.h"

namespace pmlsm::bench {

class FloorData {
 public:
  FloorData(uint64_t entries, uint64_t key_bytes, uint64_t value_bytes)
      : entries_(entries), key_bytes_(key_bytes), value_bytes_(value_bytes) {}

  // Writes the entries, the first time that it is called.
  Status Prepare(Pool* pool, ExtentAllocator* extents);
  void Forget();  // the pool closes

  uint64_t entries() const { return entries_; }
  uint64_t key_bytes() const { return key_bytes_; }
  uint64_t value_bytes() const { return value_bytes_; }
  uint64_t entry_bytes() const { return key_bytes_ + value_bytes_; }
  // number < entries().
  const char* Entry(uint64_t number) const { return base_ + number * entry_bytes(); }
  // The entry of a 64-bit hash: which, by its upper bits.
  uint64_t NumberOfHash(uint64_t hash) const {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(hash) * entries_) >> 64);
  }

 private:
  Status Write(Pool* pool, Span span) const;

  const uint64_t entries_;
  const uint64_t key_bytes_;
  const uint64_t value_bytes_;
  Mutex mutex_;
  const char* base_ = nullptr;  // set under mutex_, before the sessions that read it
};

// Copies each entry that it comes to. Seek goes to the entry that the key's hash gives.
std::unique_ptr<Iterator> NewFloorIterator(const FloorData& data);

// The first 8 bytes of a key, spread over all 64 bits: what an index that costs nothing would say.
uint64_t FloorHash(const Slice& key);

}  // namespace pmlsm::bench
