#include "pmem/transaction.h"

#include <libpmemobj.h>

#include <cerrno>
#include <string>

#include "pmem/pmdk_status.h"
#include "pmem/pmdk_transaction.h"

namespace pmlsm {

Status Transaction::Begin() {
  Status status = BeginPmdkTransaction(pool_->handle());
  open_ = status.ok();
  return status;
}

Status Transaction::Add(void* range, size_t bytes) {
  if (!open_) {
    Status status = Begin();
    if (!status.ok()) return status;
  }
  // What a range holds is of no interest to anybody, so valgrind need not ask whether it was ever written.
  const int error =
      pmemobj_tx_xadd_range_direct(range, bytes, POBJ_XADD_ASSUME_INITIALIZED | POBJ_XADD_NO_ABORT);
  if (error == 0) return Status::OK();
  End(error);
  return PmdkStatus("log for a snapshot of " + std::to_string(bytes) + " bytes", error);
}

Status Transaction::Commit() {
  if (!open_) return Status::OK();
  open_ = false;
  return CommitPmdkTransaction();
}

void Transaction::Abort() {
  if (open_) End(ECANCELED);
}

void Transaction::End(int error) {
  open_ = false;
  AbortPmdkTransaction(error);
}

}  // namespace pmlsm
