#include "util/arena.h"

#include <new>

namespace pmlsm {
namespace {

constexpr std::align_val_t kBlockAlignment{Arena::kCacheLineBytes};

}  // namespace

Arena::~Arena() {
  for (char* const block : own_blocks_) operator delete(block, kBlockAlignment);
  for (char* const block : pool_blocks_) pool_->GiveBack(block);
}

// The rest of the current block is given up. Every block starts on a cache line, so alignment needs no care.
char* Arena::AllocateFromNewBlock(size_t bytes) {
  const size_t rounded = (bytes + kAlignment - 1) & ~(kAlignment - 1);
  if (rounded > kLargeBytes) {
    Count(&bytes_in_use_, rounded);
    return NewOwnBlock(rounded);
  }
  size_t size = ArenaBlockPool::kBlockBytes;
  const size_t held = block_bytes();
  if (held < kFirstBlockBytes && rounded <= kFirstBlockBytes) {
    size = kFirstBlockBytes;
  } else if (held < kSecondBlockBytes && rounded <= kSecondBlockBytes) {
    size = kSecondBlockBytes;
  }
  if (size == ArenaBlockPool::kBlockBytes) {
    next_ = pool_->Take();
    pool_blocks_.push_back(next_);
    Count(&block_bytes_, size);
  } else {
    next_ = NewOwnBlock(size);
  }
  left_ = size;
  return Allocate(bytes, kAlignment);
}

char* Arena::NewOwnBlock(size_t bytes) {
  char* const block = static_cast<char*>(operator new(bytes, kBlockAlignment));
  own_blocks_.push_back(block);
  Count(&block_bytes_, bytes);
  return block;
}

}  // namespace pmlsm
