#include "pmem/pool_create.h"

#include <libpmemobj.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "pmem/files.h"
#include "pmem/pmdk_descriptor.h"
#include "pmem/pmdk_status.h"
#include "pmem/pool_format.h"
#include "pmem/store.h"
#include "util/hash.h"

namespace pmlsm {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGrowthStepBytes = 128 * kMiB;
// libpmemobj reads the step as an int.
constexpr uint64_t kGrowthStepBytesMax = 2046 * kMiB;
constexpr uint64_t kGroupBytes = 64 * kMiB;
constexpr uint64_t kExtentBytesMin = 4096;

uint64_t RoundDown(uint64_t value, uint64_t unit) { return value / unit * unit; }
uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

// Large enough that kGroupsMax of them fill the pool, small enough that a small pool has several.
uint64_t UsualGroupBytes(uint64_t max_pmem_bytes, uint64_t extent_bytes) {
  const uint64_t usual =
      std::max(std::min(kGroupBytes, max_pmem_bytes / 16), max_pmem_bytes / (kGroupsMax / 2));
  return RoundUp(std::max(usual, extent_bytes), std::max(kMiB, extent_bytes));
}

Status CheckOptions(const PoolOptions& options) {
  const uint64_t extent = options.extent_bytes;
  if (extent < kExtentBytesMin || (extent & (extent - 1)) != 0) {
    return Status::InvalidArgument("extent_bytes = " + std::to_string(extent),
                                   "must be a power of two of at least 4096");
  }
  return Status::OK();
}

Status DeriveMaxBytes(const std::string& directory, const PoolOptions& options, uint64_t* max_pmem_bytes) {
  uint64_t total = 0;
  uint64_t available = 0;
  Status status = FileSystemBytes(directory, &total, &available);
  if (!status.ok()) return status;
  const uint64_t wanted = options.max_pmem_bytes != 0 ? options.max_pmem_bytes : total / 10 * 9;
  *max_pmem_bytes = RoundDown(wanted, kPartBytesMin);
  if (*max_pmem_bytes >= kPoolBytesMin) return Status::OK();
  const std::string sizes =
      std::to_string(wanted) + " bytes; at least " + std::to_string(kPoolBytesMin) + " are needed";
  return options.max_pmem_bytes != 0 ? Status::InvalidArgument("max_pmem_bytes", sizes)
                                     : Status::NoSpace(directory + ": file system too small", sizes);
}

// Another process that is creating the pool right now holds libpmemobj's lock on the file.
Status RemoveLeftover(const std::string& path) {
  bool exists = false;
  Status status = PathExists(path, &exists);
  if (!status.ok() || !exists) return status;
  FileLock lock;
  if (chmod(path.c_str(), 0600) != 0) return ErrnoStatus(path + ": chmod", errno);
  status = lock.Lock(path);
  return status.ok() ? RemoveFile(path) : status;
}

PoolHeader MakeHeader(const PoolOptions& options, uint64_t max_pmem_bytes, uint64_t client_offset) {
  PoolHeader header;
  memset(&header, 0, sizeof(header));
  header.magic = kPoolMagic;
  header.format_version = kFormatVersion;
  header.extent_bytes = options.extent_bytes;
  header.group_bytes = UsualGroupBytes(max_pmem_bytes, options.extent_bytes);
  header.max_pmem_bytes = max_pmem_bytes;
  header.client_offset = client_offset;
  header.client_bytes = options.client_bytes;
  return header;
}

Status CreateFileUnderName(const std::string& path, const std::string& layout, uint64_t file_bytes,
                           Medium medium, const PoolOptions& options, uint64_t max_pmem_bytes) {
  PMEMobjpool* handle = pmemobj_create(path.c_str(), layout.c_str(), file_bytes, 0600);
  if (handle == nullptr) return PmdkStatus(path + ": create", errno);
  Status status = SetGrowthStep(handle, GrowthStepBytes(0, max_pmem_bytes));
  if (status.ok()) status = FormatPool(handle, medium, options, max_pmem_bytes);
  pmemobj_close(handle);
  return status;
}

}  // namespace

uint64_t GrowthStepBytes(uint64_t pool_bytes, uint64_t max_pmem_bytes) {
  const uint64_t usual = std::max(kGrowthStepBytes, pool_bytes / 8);
  const uint64_t limit = std::max(kPartBytesMin, max_pmem_bytes / 8);
  return RoundDown(std::min({usual, limit, kGrowthStepBytesMax}), kPartBytesMin);
}

Status SetGrowthStep(pmemobjpool* handle, uint64_t bytes) {
  size_t step = bytes;
  if (pmemobj_ctl_set(handle, "heap.size.granularity", &step) == 0) return Status::OK();
  return PmdkStatus("growth step of " + std::to_string(bytes) + " bytes", errno);
}

Status FormatPool(pmemobjpool* handle, Medium medium, const PoolOptions& options, uint64_t max_pmem_bytes) {
  Status status = CheckOptions(options);
  if (!status.ok()) return status;

  const uint64_t root_bytes = sizeof(RootObject) + kClientAlignment + options.client_bytes;
  const PMEMoid root_id = pmemobj_root(handle, root_bytes);
  if (OID_IS_NULL(root_id)) {
    return PmdkStatus("root object of " + std::to_string(root_bytes) + " bytes", errno);
  }
  RootObject* root = static_cast<RootObject*>(pmemobj_direct(root_id));

  PoolHeader header =
      MakeHeader(options, max_pmem_bytes, RoundUp(root_id.off + sizeof(RootObject), kClientAlignment));
  if (getrandom(header.identity, sizeof(header.identity), 0) != sizeof(header.identity)) {
    return Status::IOError("random identity", strerror(errno));
  }
  header.checksum = Checksum32(&header, sizeof(header));

  PersistCounters counters;
  Store store(medium, &counters);
  store.Copy(&root->header, &header, sizeof(header));
  store.FlushLines(&root->header, sizeof(header));
  status = store.Fence();
  if (!status.ok()) return status;
  store.Store8(&root->created, kPoolMagic);
  store.FlushLines(&root->created, sizeof(root->created));
  return store.Fence();
}

Status CreatePoolSet(const PoolSetPaths& paths, Medium medium, const PoolOptions& options) {
  uint64_t max_pmem_bytes = 0;
  Status status = CheckOptions(options);
  if (status.ok()) status = DeriveMaxBytes(paths.directory, options, &max_pmem_bytes);
  if (status.ok()) status = RemovePoolSet(paths);
  if (status.ok()) status = MakeDirectory(paths.new_parts);
  if (status.ok()) status = WriteSetFile(paths.new_set, max_pmem_bytes, paths.new_parts);
  if (!status.ok()) return status;

  status = CreateFileUnderName(paths.new_set, kPoolLayout, 0, medium, options, max_pmem_bytes);
  // The rename is what makes it a pool; pool.set must be there by then.
  if (status.ok()) status = FsyncPath(paths.new_parts);
  if (status.ok()) status = WriteSetFile(paths.set, max_pmem_bytes, paths.parts);
  if (status.ok()) status = Rename(paths.new_parts, paths.parts);
  if (status.ok()) status = FsyncPath(paths.directory);
  if (!status.ok()) {
    RemovePoolSet(paths).PermitUncheckedError();
    return status;
  }
  return RemoveFile(paths.new_set);
}

Status CreatePoolFile(const std::string& path, Medium medium, const PoolOptions& options) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && S_ISCHR(info.st_mode)) {
    Status status = CheckOptions(options);
    if (!status.ok()) return status;
    PMEMobjpool* handle = pmemobj_create(path.c_str(), kPoolLayout, 0, 0600);
    if (handle == nullptr) return PmdkStatus(path + ": create", errno);
    const char* base = reinterpret_cast<const char*>(handle);
    status = FormatPool(handle, medium, options,
                        PmdkWord(base, kPmdkHeapOffsetOffset) + PmdkWord(base, kPmdkHeapSizeOffset));
    pmemobj_close(handle);
    return status;
  }

  uint64_t max_pmem_bytes = 0;
  const std::string temporary = path + ".new";
  Status status = CheckOptions(options);
  if (status.ok()) status = DeriveMaxBytes(ParentOf(path), options, &max_pmem_bytes);
  if (status.ok()) status = RemoveLeftover(temporary);
  if (!status.ok()) return status;
  status = CreateFileUnderName(temporary, kPoolLayout, max_pmem_bytes, medium, options, max_pmem_bytes);
  if (status.ok()) status = FsyncPath(temporary);
  if (status.ok()) status = Rename(temporary, path);
  if (status.ok()) status = FsyncPath(ParentOf(path));
  if (!status.ok()) RemoveFile(temporary).PermitUncheckedError();
  return status;
}

}  // namespace pmlsm
