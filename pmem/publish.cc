#include "pmem/publish.h"

#include "pmem/publish_transaction.h"
#include "util/check.h"

namespace pmlsm {
namespace {

// What kIndividual and kAtomic share: an unreachable range needs no undo.
class UnloggedRanges : public Publisher {
 public:
  Status BeginRange(Span) override { return Status::OK(); }
  Status EndRange() override { return Status::OK(); }
  void AbortRange() override {}
  uint64_t range_bytes_max() const override { return UINT64_MAX; }
};

class IndividualPublisher : public UnloggedRanges {
 public:
  explicit IndividualPublisher(Pool* pool) : pool_(pool) {}
  Status Publish(Store* store, uint64_t* word, uint64_t value) override {
    return PublishInTransaction(pool_, store, word, value);
  }

 private:
  Pool* const pool_;
};

class AtomicPublisher : public UnloggedRanges {
 public:
  // 1. Store the word (8 B). 2. Flush its line. 3. Fence. CRASH before 3: old or new, as the line reached
  // media.
  Status Publish(Store* store, uint64_t* word, uint64_t value) override {
    const uint64_t old_value = __atomic_load_n(word, __ATOMIC_RELAXED);
    store->Store8(word, value);
    store->FlushLines(word, sizeof(*word));
    Status status = store->Fence();
    if (!status.ok()) store->Store8(word, old_value);
    return status;
  }
};

}  // namespace

std::unique_ptr<Publisher> Publisher::New(FailureAtomicity mode, Pool* pool) {
  switch (mode) {
    case FailureAtomicity::kTransaction:
      return NewTransactionPublisher(pool);
    case FailureAtomicity::kIndividual:
      return std::make_unique<IndividualPublisher>(pool);
    case FailureAtomicity::kAtomic:
      return std::make_unique<AtomicPublisher>();
  }
  CHECK(false && "a failure-atomicity mode");
  return nullptr;
}

}  // namespace pmlsm
