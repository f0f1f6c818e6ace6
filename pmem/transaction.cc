#include "pmem/transaction.h"

#include <libpmemobj.h>

#include <cerrno>
#include <string>

#include "pmem/pmdk_status.h"
#include "util/check.h"

namespace pmlsm {

// No jump buffer is given, so that libpmemobj has nowhere to jump to: each failure is an error number.
Status Transaction::Begin() {
  CHECK(pmemobj_tx_stage() == TX_STAGE_NONE);
  const int error = pmemobj_tx_begin(pool_->handle(), nullptr, TX_PARAM_NONE);
  if (error != 0) {
    static_cast<void>(pmemobj_tx_end());
    return PmdkStatus("transaction", error);
  }
  pmemobj_tx_set_failure_behavior(POBJ_TX_FAILURE_RETURN);
  open_ = true;
  return Status::OK();
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
  pmemobj_tx_commit();
  const int error = pmemobj_tx_end();
  return error == 0 ? Status::OK() : PmdkStatus("commit of a transaction", error);
}

void Transaction::Abort() {
  if (open_) End(ECANCELED);
}

void Transaction::End(int error) {
  open_ = false;
  if (pmemobj_tx_stage() == TX_STAGE_WORK) pmemobj_tx_abort(error);
  static_cast<void>(pmemobj_tx_end());
}

}  // namespace pmlsm
