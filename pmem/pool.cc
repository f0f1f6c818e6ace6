#include "pmem/pool.h"

#include <libpmemobj.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "pmem/object_types.h"
#include "pmem/pmdk_descriptor.h"
#include "pmem/pmdk_status.h"
#include "pmem/pool_create.h"
#include "pmem/pool_set_file.h"
#include "util/check.h"
#include "util/hash.h"

namespace pmlsm {
namespace {

// The header of libpmemobj's block, in front of an object.
constexpr uint64_t kBlockHeaderBytes = 16;
// What libpmemobj's lanes and zones and the root object's run take of a pool, about.
constexpr uint64_t kPoolOverheadBytes = uint64_t{8} << 20;
constexpr uint64_t kPageBytes = 4096;

static_assert(sizeof(GroupEntry) == sizeof(PMEMoid));
static_assert(offsetof(GroupEntry, object_offset) == offsetof(PMEMoid, off));

uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

// What to ask of libpmemobj for a group with `extents` extents after trimming to 4 KiB.
uint64_t GroupRequestBytes(uint64_t extents, uint64_t extent_bytes) {
  return HugeRequestBytes(extents * extent_bytes + kPageBytes);
}

PMEMoid ToOid(const GroupEntry& entry) { return {entry.object_pool_uuid, entry.object_offset}; }

Status SingleFileExists(const std::string& path, bool* exists) {
  Status status = PathExists(path, exists);
  if (!status.ok() || !*exists) return status;
  PmdkDescriptor descriptor;
  status = ReadPmdkDescriptor(path, &descriptor);
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && S_ISCHR(info.st_mode)) {
    if (!status.ok()) return status;
    if (descriptor.zero) *exists = false;
  }
  // Whatever else it is, it is not ours to overwrite: Open says what is wrong with it.
  if (!status.ok() || !descriptor.signature || descriptor.layout != kPoolLayout) return Status::OK();
  uint64_t created = 0;
  if (descriptor.root_offset != 0) {
    status = ReadRaw(path, descriptor.root_offset + offsetof(RootObject, created), &created, sizeof(created));
    if (!status.ok()) return Status::OK();
  }
  *exists = created != 0;
  return Status::OK();
}

Status CheckSingleFile(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return ErrnoStatus(path + ": stat", errno);
  if (!S_ISREG(info.st_mode) && !S_ISCHR(info.st_mode)) {
    return Status::InvalidArgument(path + ": neither a file nor a device");
  }
  PmdkDescriptor descriptor;
  Status status = ReadPmdkDescriptor(path, &descriptor);
  if (!status.ok()) return status;
  if (!descriptor.signature) return Status::InvalidArgument(path + ": not a libpmemobj pool");
  if (descriptor.layout != kPoolLayout) {
    return Status::InvalidArgument(path + ": layout is \"" + descriptor.layout + "\"",
                                   std::string("must be \"") + kPoolLayout + "\"");
  }
  if (S_ISREG(info.st_mode) && static_cast<uint64_t>(info.st_size) < descriptor.pool_bytes()) {
    return Status::IOError(path + ": truncated", std::to_string(info.st_size) + " of " +
                                                     std::to_string(descriptor.pool_bytes()) + " bytes");
  }
  return Status::OK();
}

Status DoesNotExist(const std::string& path) {
  return Status::InvalidArgument(path + ": pool does not exist");
}

}  // namespace

Status Pool::Exists(const PoolOptions& options, bool* exists) {
  return options.pool_file.empty() ? PoolSetExists(PoolSetPaths(options.set_dir), exists)
                                   : SingleFileExists(options.pool_file, exists);
}

Status Pool::Open(const PoolOptions& options, std::unique_ptr<Pool>* pool) {
  std::unique_ptr<Pool> opened(new Pool);
  Status status = options.pool_file.empty() ? opened->OpenSet(options) : opened->OpenFile(options);
  if (!status.ok()) return status;
  opened->base_ = reinterpret_cast<const char*>(opened->handle_);
  status = opened->LoadRoot();
  if (status.ok()) status = opened->LoadGroups();
  if (status.ok()) status = opened->PrepareGrowth();  // transactions may make the heap grow before Grow does
  if (status.ok()) *pool = std::move(opened);
  return status;
}

Status Pool::OpenSet(const PoolOptions& options) {
  Status status = options.create ? MakeDirectory(options.set_dir) : Status::OK();
  if (status.ok()) status = RealPath(options.set_dir, &path_);
  if (status.IsPathNotFound()) return DoesNotExist(options.set_dir);
  if (status.ok()) status = lock_.Lock(path_);
  if (status.ok()) status = DetectMedium(path_, &medium_);
  if (!status.ok()) return status;

  const PoolSetPaths paths(path_);
  bool exists = false;
  status = PoolSetExists(paths, &exists);
  if (!status.ok()) return status;
  if (!exists) {
    if (!options.create) return DoesNotExist(path_);
    status = CreatePoolSet(paths, medium_, options);
    if (!status.ok()) return status;
  }
  status = RepairParts(paths);
  if (status.ok()) status = RefreshSetFile(paths);
  if (!status.ok()) return status;

  parts_ = paths.parts;
  can_grow_ = true;
  return OpenHandle(paths.set, options.snapshots);
}

// libpmemobj 1.12 measures the logs of its lanes before it recovers. Where a crash cut the freeing of a
// lane's second log short, recovery ends that, but goes on to believe in the second log's space, and the next
// transaction of that lane that needs more than the first log follows a null pointer. What is opened again
// has been recovered, so it is measured right.
Status Pool::OpenHandle(const std::string& path, bool snapshots) {
  for (int left = snapshots ? 2 : 1; left > 0; --left) {
    if (handle_ != nullptr) pmemobj_close(handle_);
    handle_ = pmemobj_open(path.c_str(), kPoolLayout);
    if (handle_ == nullptr) return PmdkStatus(path_, errno);
  }
  return Status::OK();
}

Status Pool::OpenFile(const PoolOptions& options) {
  path_ = options.pool_file;
  bool exists = false;
  Status status = Exists(options, &exists);
  if (!status.ok()) return status;
  if (!exists && !options.create) return DoesNotExist(path_);

  // A file that exists is taken as it is: `pmempool create` or a device may have been prepared beforehand.
  bool prepared = exists;
  if (!exists) {
    bool there = false;
    status = PathExists(path_, &there);
    PmdkDescriptor descriptor;
    if (status.ok() && there) status = ReadPmdkDescriptor(path_, &descriptor);
    if (!status.ok()) return status;
    prepared = there && !descriptor.zero;
  }
  status = DetectMedium(prepared ? path_ : ParentOf(path_), &medium_);
  if (status.ok() && !prepared) status = CreatePoolFile(path_, medium_, options);
  if (status.ok()) status = DetectMedium(path_, &medium_);
  if (status.ok()) status = CheckSingleFile(path_);
  if (!status.ok()) return status;

  status = OpenHandle(path_, options.snapshots);
  if (!status.ok()) return status;
  if (!exists && prepared) {
    base_ = reinterpret_cast<const char*>(handle_);
    status = FormatPool(handle_, medium_, options, pool_bytes());
  }
  return status;
}

Status Pool::Destroy(const PoolOptions& options) {
  if (!options.pool_file.empty()) {
    FileLock lock;
    Status status = lock.Lock(options.pool_file);
    if (status.IsPathNotFound()) status = Status::OK();
    if (status.ok()) status = RemoveFile(options.pool_file + ".new");
    return status.ok() ? RemoveFile(options.pool_file) : status;
  }
  FileLock lock;
  Status status = lock.Lock(options.set_dir);
  if (status.IsPathNotFound()) return Status::OK();
  return status.ok() ? RemovePoolSet(PoolSetPaths(options.set_dir)) : status;
}

Pool::~Pool() {
  if (handle_ != nullptr) pmemobj_close(handle_);
}

Status Pool::LoadRoot() {
  const uint64_t root_bytes = pmemobj_root_size(handle_);
  if (root_bytes < sizeof(RootObject)) {
    return Status::InvalidArgument(path_ + ": a libpmemobj pool without a pmlsm header");
  }
  const PMEMoid root_id = pmemobj_root(handle_, root_bytes);
  if (OID_IS_NULL(root_id)) return PmdkStatus(path_ + ": root object", errno);
  root_ = static_cast<RootObject*>(pmemobj_direct(root_id));
  return CheckHeader(root_id.off, root_bytes);
}

Status Pool::CheckHeader(uint64_t root_offset, uint64_t root_bytes) const {
  const PoolHeader& header = root_->header;
  const std::string place = path_ + ": pool header at offset " + std::to_string(root_offset);
  if (header.magic != kPoolMagic) {
    return root_->created == kPoolMagic
               ? Status::Corruption(place, "bad magic")
               : Status::InvalidArgument(path_ + ": a libpmemobj pool without a pmlsm header");
  }
  PoolHeader copy = header;
  copy.checksum = 0;
  if (Checksum32(&copy, sizeof(copy)) != header.checksum) {
    return Status::Corruption(place, "checksum does not match");
  }
  if (header.format_version > kFormatVersion) {
    return Status::InvalidArgument(path_ + ": format " + std::to_string(header.format_version),
                                   "this build reads up to format " + std::to_string(kFormatVersion));
  }
  if (root_->created != kPoolMagic) {
    return Status::Corruption(place, "the mark of a finished creation is damaged");
  }
  // The checksum vouches for the values; these hold for any that this code wrote.
  const uint64_t root_end = root_offset + root_bytes;
  if ((header.extent_bytes & (header.extent_bytes - 1)) != 0 || header.extent_bytes < kPageBytes ||
      header.client_offset < root_offset + sizeof(RootObject) || header.client_offset > root_end ||
      header.client_bytes > root_end - header.client_offset) {
    return Status::Corruption(place, "values out of range");
  }
  return Status::OK();
}

Status Pool::LoadGroups() {
  // A directory entry is believed only if libpmemobj knows the object: asking it about any other offset would
  // read wild memory.
  std::set<uint64_t> group_objects;
  for (PMEMoid oid = pmemobj_first(handle_); !OID_IS_NULL(oid);) {
    PMEMoid next = pmemobj_next(oid);
    const uint64_t type = pmemobj_type_num(oid);
    if (type == kGroupType) group_objects.insert(oid.off);
    // A reserve belongs to one opening of the pool; a crash leaves it behind.
    if (type == kLogReserveType) pmemobj_free(&oid);
    oid = next;
  }
  for (uint64_t i = 0; i < kGroupsMax; ++i) {
    const GroupEntry& entry = root_->groups[i];
    if (entry.object_offset == 0) continue;
    if (group_objects.erase(entry.object_offset) == 0) {
      return Status::Corruption(path_ + ": group directory entry " + std::to_string(i),
                                "names no group: offset " + std::to_string(entry.object_offset));
    }
    Status status = AddGroup(entry);
    if (!status.ok()) return status;
  }
  if (group_objects.empty()) return Status::OK();
  return Status::Corruption(path_ + ": group directory",
                            "no entry for the group at offset " + std::to_string(*group_objects.begin()));
}

Status Pool::AddGroup(const GroupEntry& entry) {
  const uint64_t usable = pmemobj_alloc_usable_size(ToOid(entry));
  const uint64_t begin = RoundUp(entry.object_offset, kPageBytes);
  const uint64_t end = entry.object_offset + usable;
  const uint64_t extent = root_->header.extent_bytes;
  Span group;
  group.offset = begin;
  group.bytes = end > begin ? (end - begin) / extent * extent : 0;
  if (group.bytes == 0) {
    return Status::Corruption(path_ + ": group at offset " + std::to_string(entry.object_offset),
                              "only " + std::to_string(usable) + " bytes");
  }
  MutexLock lock(&mutex_);
  groups_.push_back(group);
  group_heap_bytes_ += RoundUp(usable + kBlockHeaderBytes, kChunkBytes);
  return Status::OK();
}

uint64_t Pool::pool_bytes() const {
  return PmdkWord(base_, kPmdkHeapOffsetOffset) + PmdkWord(base_, kPmdkHeapSizeOffset);
}

std::vector<Span> Pool::Groups() const {
  MutexLock lock(&mutex_);
  return groups_;
}

Status Pool::Grow(uint64_t min_bytes, Span* group) {
  MutexLock grow_lock(&grow_mutex_);
  const uint64_t extent = root_->header.extent_bytes;
  const uint64_t extents_min = std::max<uint64_t>(1, RoundUp(min_bytes, extent) / extent);
  GroupEntry* const end = root_->groups + kGroupsMax;
  GroupEntry* const entry =
      std::find_if(root_->groups, end, [](const GroupEntry& e) { return e.object_offset == 0; });
  if (entry == end) {
    return Status::NoSpace(path_ + ": group of " + std::to_string(min_bytes) + " bytes",
                           "all " + std::to_string(kGroupsMax) + " groups are in use");
  }

  uint64_t extents = std::max(extents_min, root_->header.group_bytes / extent);
  Status status;
  for (;;) {
    status = AllocateGroup(entry, GroupRequestBytes(extents, extent));
    if (!status.IsNoSpace() || extents == extents_min) break;
    extents = std::max(extents_min, extents / 2);
  }
  if (!status.ok()) return status;
  status = AddGroup(*entry);
  if (!status.ok()) return status;
  MutexLock lock(&mutex_);
  *group = groups_.back();
  return Status::OK();
}

Status Pool::AllocateGroup(GroupEntry* entry, uint64_t bytes) {
  Status status = PrepareGrowth();
  if (!status.ok()) return status;
  const uint64_t bytes_before = pool_bytes();
  // Allocation and entry are one atomic step of libpmemobj. CRASH before it: neither.
  if (pmemobj_alloc(handle_, reinterpret_cast<PMEMoid*>(entry), bytes, kGroupType, nullptr, nullptr) == 0) {
    return SyncGrowth(bytes_before);
  }
  const int error = errno;
  uint64_t total = 0;
  uint64_t available = 0;
  if (can_grow_) FileSystemBytes(path_, &total, &available).PermitUncheckedError();
  const std::string what = path_ + ": group of " + std::to_string(bytes) + " bytes";
  if (error != ENOMEM) return PmdkStatus(what, error);
  return Status::NoSpace(what, "the pool has " + std::to_string(pool_bytes()) + " of at most " +
                                   std::to_string(root_->header.max_pmem_bytes) + " bytes, its file system " +
                                   std::to_string(available) + " free");
}

// A part that the file system has no room for is not tried: libpmemobj would never use its number again.
Status Pool::PrepareGrowth() {
  if (!can_grow_) return Status::OK();
  uint64_t total = 0;
  uint64_t available = 0;
  Status status = FileSystemBytes(path_, &total, &available);
  if (!status.ok()) return status;
  const uint64_t step = GrowthStepBytes(pool_bytes(), root_->header.max_pmem_bytes);
  const uint64_t room = available / kPartBytesMin * kPartBytesMin;
  return SetGrowthStep(handle_, std::min(step, room));
}

// Whoever fills the group counts on its part's name and size being durable.
Status Pool::SyncGrowth(uint64_t bytes_before) {
  if (medium_ == Medium::kTmpfs || pool_bytes() == bytes_before) return Status::OK();
  return FsyncPath(parts_);
}

uint64_t Pool::GrowableBytes() const {
  const uint64_t now = pool_bytes();
  uint64_t limit = now;
  if (can_grow_) {
    uint64_t total = 0;
    uint64_t available = 0;
    FileSystemBytes(path_, &total, &available).PermitUncheckedError();
    limit = std::min(root_->header.max_pmem_bytes, now + available);
  }
  MutexLock lock(&mutex_);
  const uint64_t used = group_heap_bytes_ + kPoolOverheadBytes;
  return limit > used ? limit - used : 0;
}

void Pool::Prefault(Span span) const {
  const uintptr_t first = reinterpret_cast<uintptr_t>(base_) + span.offset;
  const uintptr_t begin = first / kPageBytes * kPageBytes;
  const uintptr_t end = RoundUp(first + span.bytes, kPageBytes);
  // Of a plain file, writable pages would only be written back as zeros.
#ifdef MADV_POPULATE_WRITE
  const int advice = medium_ == Medium::kFile ? MADV_POPULATE_READ : MADV_POPULATE_WRITE;
  if (madvise(reinterpret_cast<void*>(begin), end - begin, advice) == 0) return;
#endif
  for (uintptr_t page = begin; page < end; page += kPageBytes) {
    static_cast<void>(*reinterpret_cast<const volatile char*>(page));
  }
}

}  // namespace pmlsm
