// FreshWrites: stores to persistent memory that nothing reaches yet, and so may reach the medium in any order. They
// are flushed line by line, a line once if writes go upwards, and are durable after the next fence.
//
// Thread safety: one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pmem/store.h"
#include "pmlsm/status.h"
#include "util/check.h"

namespace pmlsm::primitives {

// Words that a commit shall publish.
class StagedWords {
 public:
  static constexpr uint32_t kMax = 8;
  struct Word {
    uint64_t* word;
    uint64_t value;
  };

  void Push(uint64_t* word, uint64_t value) {
    CHECK(count_ < kMax);
    words_[count_++] = {word, value};
  }
  void Clear() { count_ = 0; }
  uint32_t count() const { return count_; }
  const Word* begin() const { return words_; }
  const Word* end() const { return words_ + count_; }

 private:
  uint32_t count_ = 0;
  Word words_[kMax];
};

class FreshWrites {
 public:
  explicit FreshWrites(Store* store) : store_(store) {}

  // A part of a new node.
  void WriteFresh(void* to, const void* from, size_t bytes) {
    if (bytes == 0) return;
    store_->Copy(to, from, bytes);
    NoteForFlush(reinterpret_cast<uintptr_t>(to), bytes);
  }
  // A whole one, past the caches.
  void StreamFresh(void* to, const void* from, size_t bytes) {
    store_->Stream(to, from, bytes);
    fence_is_due_ = true;
  }
  // A word that recovery sets right anyway: durable with the next fence, whenever that comes.
  void Hint(uint64_t* word, uint64_t value) {
    store_->Store8(word, value);
    NoteForFlush(reinterpret_cast<uintptr_t>(word), sizeof(*word));
  }

  Store* store() const { return store_; }

 protected:
  void FlushNoted();
  // Nothing if nothing was written since the last one.
  Status FenceWrites();
  // Somebody else fenced, in this thread, after FlushNoted.
  void NoteFence() { fence_is_due_ = false; }

  Store* const store_;

 private:
  void NoteForFlush(uintptr_t from, size_t bytes);

  uintptr_t noted_begin_ = 0;  // whole lines, written and not flushed
  uintptr_t noted_end_ = 0;
  bool fence_is_due_ = false;
};

}  // namespace pmlsm::primitives
