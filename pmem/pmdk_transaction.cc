#include "pmem/pmdk_transaction.h"

#include "pmem/pmdk_status.h"
#include "util/check.h"

namespace pmlsm {

Status BeginPmdkTransaction(PMEMobjpool* handle) {
  CHECK(pmemobj_tx_stage() == TX_STAGE_NONE);
  const int error = pmemobj_tx_begin(handle, nullptr, TX_PARAM_NONE);
  if (error != 0) {
    static_cast<void>(pmemobj_tx_end());
    return PmdkStatus("transaction", error);
  }
  pmemobj_tx_set_failure_behavior(POBJ_TX_FAILURE_RETURN);
  return Status::OK();
}

Status CommitPmdkTransaction() {
  pmemobj_tx_commit();
  const int error = pmemobj_tx_end();
  return error == 0 ? Status::OK() : PmdkStatus("commit of a transaction", error);
}

void AbortPmdkTransaction(int error) {
  if (pmemobj_tx_stage() == TX_STAGE_WORK) pmemobj_tx_abort(error);
  static_cast<void>(pmemobj_tx_end());
}

}  // namespace pmlsm
