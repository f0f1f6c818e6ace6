#include "pmem/pmdk_allocator.h"

#include <libpmemobj.h>

#include <cerrno>
#include <string>

#include "pmem/object_types.h"
#include "pmem/pmdk_status.h"
#include "util/check.h"

namespace pmlsm {

Status PmdkAllocator::Allocate(uint64_t bytes, uint64_t* offset) {
  CHECK(bytes > 0);
  PMEMoid object;
  if (pmemobj_alloc(pool_->handle(), &object, bytes, kSingleType, nullptr, nullptr) != 0) {
    return PmdkStatus("an object of " + std::to_string(bytes) + " bytes", errno);
  }
  *offset = object.off;
  return Status::OK();
}

void PmdkAllocator::Free(uint64_t offset) {
  PMEMoid object = pmemobj_oid(reinterpret_cast<char*>(pool_->handle()) + offset);
  CHECK(object.off == offset);
  pmemobj_free(&object);
}

}  // namespace pmlsm
