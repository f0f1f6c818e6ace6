#include "pmem/publish_transaction.h"

#include <libpmemobj.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "pmem/object_types.h"
#include "pmem/pmdk_status.h"
#include "pmem/pmdk_transaction.h"
#include "util/mutex.h"

namespace pmlsm {
namespace {

constexpr uint64_t kRangeBytesMax = uint64_t{16} << 20;
// Pieces of the size of one range's log. libpmemobj 1.12 was seen to need up to three for one.
constexpr size_t kReserves = 4;

class TransactionPublisher : public Publisher {
 public:
  explicit TransactionPublisher(Pool* pool)
      : pool_(pool), range_bytes_max_(std::min(kRangeBytesMax, pool->header().max_pmem_bytes / 64)) {
    MutexLock lock(&mutex_);
    HoldReserve();
  }

  ~TransactionPublisher() override {
    MutexLock lock(&mutex_);
    while (ReleaseReserve()) {
    }
  }

  // 1. libpmemobj copies the range into its log, fenced. The caller then streams and fences the range.
  // CRASH: recovery puts the old bytes back.
  Status BeginRange(Span range) override {
    if (range.bytes > range_bytes_max_) return Status::OK();
    Status status = Snapshot(range);
    if (!status.IsNoSpace()) return status;
    // A piece of the reserve after the other becomes this log's; nobody else may take it in between. The lane
    // keeps its log, so that later ranges of this thread find it.
    MutexLock lock(&mutex_);
    while (status.IsNoSpace() && ReleaseReserve()) status = Snapshot(range);
    return status;
  }

  Status EndRange() override {
    if (pmemobj_tx_stage() == TX_STAGE_NONE) return Status::OK();  // a range that was too large
    Status status = CommitPmdkTransaction();
    RefillReserve();
    return status;
  }

  void AbortRange() override {
    if (pmemobj_tx_stage() == TX_STAGE_NONE) return;
    AbortPmdkTransaction(ECANCELED);
    RefillReserve();
  }

  uint64_t range_bytes_max() const override { return range_bytes_max_; }

  Status Publish(Store* store, uint64_t* word, uint64_t value) override {
    return PublishInTransaction(pool_, store, word, value);
  }

 private:
  Status Snapshot(Span range) {
    Status status = BeginPmdkTransaction(pool_->handle());
    if (!status.ok()) return status;
    // The caller streams and fences the range, so the commit need not flush it. What it holds is of no
    // interest to anybody, so valgrind need not ask whether it was ever written.
    const int error =
        pmemobj_tx_xadd_range_direct(pool_->Writable(range.offset), range.bytes,
                                     POBJ_XADD_NO_FLUSH | POBJ_XADD_ASSUME_INITIALIZED | POBJ_XADD_NO_ABORT);
    if (error == 0) return Status::OK();
    AbortPmdkTransaction(error);
    return PmdkStatus("log for a snapshot of " + std::to_string(range.bytes) + " bytes", error);
  }

  void HoldReserve() REQUIRES(mutex_) {
    size_t range_bytes = range_bytes_max_;
    const size_t bytes = HugeRequestBytes(pmemobj_tx_log_snapshots_max_size(&range_bytes, 1));
    while (reserve_.size() < kReserves) {
      PMEMoid piece = OID_NULL;
      // Without room for it, transactions take what the heap has left.
      if (pmemobj_alloc(pool_->handle(), &piece, bytes, kLogReserveType, nullptr, nullptr) != 0) return;
      reserve_.push_back(piece);
    }
  }
  bool ReleaseReserve() REQUIRES(mutex_) {
    if (reserve_.empty()) return false;
    pmemobj_free(&reserve_.back());
    reserve_.pop_back();
    return true;
  }
  void RefillReserve() {
    MutexLock lock(&mutex_);
    HoldReserve();
  }

  Pool* const pool_;
  const uint64_t range_bytes_max_;
  Mutex mutex_;
  // Held in DRAM only: a crash leaves the objects behind, and Pool::Open frees them.
  std::vector<PMEMoid> reserve_ GUARDED_BY(mutex_);
};

}  // namespace

Status PublishInTransaction(Pool* pool, Store* store, uint64_t* word, uint64_t value) {
  Status status = BeginPmdkTransaction(pool->handle());
  if (!status.ok()) return status;
  const int error = pmemobj_tx_xadd_range_direct(word, sizeof(*word), POBJ_XADD_NO_ABORT);
  if (error != 0) {
    AbortPmdkTransaction(error);
    return PmdkStatus("log for a word", error);
  }
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
  status = CommitPmdkTransaction();
  if (status.ok()) store->CountForeign(word, sizeof(*word));
  return status;
}

std::unique_ptr<Publisher> NewTransactionPublisher(Pool* pool) {
  return std::make_unique<TransactionPublisher>(pool);
}

}  // namespace pmlsm
