// Publisher::New's makers for the modes that use PMDK transactions; see publish.h for the contract.
#pragma once

#include <cstdint>
#include <memory>

#include "pmem/publish.h"

namespace pmlsm {

std::unique_ptr<Publisher> NewTransactionPublisher(Pool* pool);

// One word in a PMDK transaction: 1. libpmemobj logs the old word, fenced. 2. Store the new one.
// 3. Commit: flush, fence, and invalidate the log, which makes it stay. CRASH before 3: recovery puts the old
// word back.
Status PublishInTransaction(Pool* pool, Store* store, uint64_t* word, uint64_t value);

}  // namespace pmlsm
