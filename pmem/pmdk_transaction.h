// A libpmemobj transaction of the calling thread. No jump buffer is given, so that libpmemobj has nowhere to jump to:
// each failure comes back as an error number.
//
// Thread safety: each thread has its own.
#pragma once

#include <libpmemobj.h>

#include "pmlsm/status.h"

namespace pmlsm {

// The thread has none open.
Status BeginPmdkTransaction(PMEMobjpool* handle);
// CRASH before it returns: recovery puts back what was added.
Status CommitPmdkTransaction();
// Puts back what was added.
void AbortPmdkTransaction(int error);

}  // namespace pmlsm
