// An error of libpmemobj as a Status.
#pragma once

#include <string>

#include "pmlsm/status.h"

namespace pmlsm {

// From errno and libpmemobj's message of the calling thread. EAGAIN, EEXIST: IOError "lock"; EINVAL:
// Corruption; ENOMEM, which is how libpmemobj says that a pool is full: NoSpace.
Status PmdkStatus(const std::string& what, int error);

}  // namespace pmlsm
