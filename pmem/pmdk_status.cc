#include "pmem/pmdk_status.h"

#include <libpmemobj.h>

#include <cerrno>

#include "pmem/files.h"

namespace pmlsm {

Status PmdkStatus(const std::string& what, int error) {
  const char* message = pmemobj_errormsg();
  const std::string text = message != nullptr ? message : "";
  switch (error) {
    case EAGAIN:
      return Status::IOError(what + ": lock", "the pool is open elsewhere: " + text);
    case EEXIST:
      return Status::IOError(what + ": lock", "a copy of this pool is open in this process: " + text);
    case EINVAL:
      return Status::Corruption(what + ": libpmemobj refuses the pool", text);
    case ENOMEM:
      return Status::NoSpace(what, text);
    default:
      break;
  }
  const Status status = ErrnoStatus(what, error);
  return text.empty() || status.IsNoSpace() ? status : Status::IOError(what, text);
}

}  // namespace pmlsm
