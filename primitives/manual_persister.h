// ManualPersister: changes in place, flushed and fenced, and nothing more. After a commit all is durable; a crash in
// the midst of a change that overwrites, or of one that publishes several words, leaves a torn node. So it is for
// what nobody needs after a crash: the paper's measurements, which "manually persist" (section 5.1), and inner nodes
// that recovery rebuilds.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>

#include "pmlsm/status.h"
#include "primitives/fresh_writes.h"

namespace pmlsm::primitives {

class ManualPersister : public FreshWrites {
 public:
  static constexpr char kName[] = "manual";
  // Not that it could: nobody asks for it.
  static constexpr bool kUndo = true;
  static constexpr uint32_t kWordsMax = StagedWords::kMax;

  using FreshWrites::FreshWrites;

  void Write(void* to, const void* from, size_t bytes) { WriteFresh(to, from, bytes); }
  void Overwrite(void* to, const void* from, size_t bytes) { WriteFresh(to, from, bytes); }
  void Stage(uint64_t* word, uint64_t value) { staged_.Push(word, value); }
  // 1. Fence what was written. 2. Store the words, flush, fence.
  Status Commit() {
    Status status = FenceWrites();
    for (const StagedWords::Word& staged : staged_) Hint(staged.word, staged.value);
    staged_.Clear();
    return status.ok() ? FenceWrites() : status;
  }

 private:
  StagedWords staged_;
};

}  // namespace pmlsm::primitives
