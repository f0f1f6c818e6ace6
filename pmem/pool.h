// Pool: a libpmemobj pool as a set of files that grows by itself, or one file or device of fixed size.
//
// Position: an offset from the pool's start, 8 bytes, 0 = null. It is what persistent structures hold.
//
// Directory layout (set_dir = <db>): pool.set, parts/. Libpmemobj needs absolute paths in a pool set, so Open
// rewrites pool.set (temporary file, fsync, rename) when the directory has moved.
//
// Crash safety of creation: 1. create under the name "parts.new" / "<file>.new". 2. Fill in the header and
// fence.
// 3. Store `created` and persist. 4. Rename and fsync the directory. CRASH before 4: Open finds no pool,
// removes the remains. Growth: a kill can leave empty trailing parts, which Open removes before libpmemobj
// sees them.
//
// Thread safety: At, ToOffset, base and the constants are free for all; Grow is serialised inside.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pmem/device.h"
#include "pmem/files.h"
#include "pmem/pool_format.h"
#include "pmlsm/status.h"
#include "util/mutex.h"

struct pmemobjpool;  // libpmemobj

namespace pmlsm {

// Contiguous persistent memory: whole extents.
struct Span {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t end() const { return offset + bytes; }
};

struct PoolOptions {
  std::string set_dir;          // the DB's directory; used if pool_file is empty
  std::string pool_file;        // one file or device
  bool create = false;          // make it if there is none (else InvalidArgument "does not exist")
  uint64_t max_pmem_bytes = 0;  // 0 = 90 % of the file system; for creation
  uint64_t extent_bytes = 0;    // for creation
  uint64_t client_bytes = 0;    // for creation: size of the client area, zeroed
  bool snapshots = false;       // transactions will log more than single words
};

class Pool {
 public:
  // True if set_dir or pool_file holds a finished pool (a half-made one does not count).
  static Status Exists(const PoolOptions& options, bool* exists);

  // InvalidArgument: missing and !create, another layout, a newer format. IOError: a part that is missing,
  // unreadable or shorter than it was ("truncated"), another opener ("lock"). Corruption: header or checksum.
  static Status Open(const PoolOptions& options, std::unique_ptr<Pool>* pool);
  // Deletes the pool's own files.
  static Status Destroy(const PoolOptions& options);

  ~Pool();  // closes
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  const char* base() const { return base_; }
  template <typename T = char>
  const T* At(uint64_t offset) const {
    return reinterpret_cast<const T*>(base_ + offset);
  }
  // For a Store's destination, nothing else.
  template <typename T = char>
  T* Writable(uint64_t offset) const {
    return reinterpret_cast<T*>(const_cast<char*>(base_) + offset);
  }
  uint64_t ToOffset(const void* pointer) const { return static_cast<const char*>(pointer) - base_; }

  const PoolHeader& header() const { return root_->header; }
  Medium medium() const { return medium_; }
  // False for a single file or device, whose size is fixed.
  bool can_grow() const { return can_grow_; }
  pmemobjpool* handle() const { return handle_; }  // for pmem/ only
  // What libpmemobj has laid out by now, bytes; at most max_pmem_bytes.
  uint64_t pool_bytes() const;

  // Existing groups, each trimmed to whole 4 KiB-aligned extents. InvalidArgument-free: checked at open.
  std::vector<Span> Groups() const;

  // Allocates a group that holds at least one span of min_bytes (the usual group size if that is larger;
  // smaller, down to min_bytes, if the pool is nearly full). One libpmemobj atomic allocation: after a crash
  // the group is in the directory whole, or not allocated. NoSpace when the pool or the file system is full.
  // May take tens of milliseconds: background threads only.
  Status Grow(uint64_t min_bytes, Span* group);

  // About how many bytes of further groups there is room for, in the pool and in its file system. An
  // estimate: libpmemobj's own use of space is not exactly known.
  uint64_t GrowableBytes() const;

  // Touches the pages of a fresh span without changing them, so that its first writer does not fault.
  void Prefault(Span span) const;

 private:
  Pool() = default;
  Status OpenSet(const PoolOptions& options);
  Status OpenFile(const PoolOptions& options);
  Status OpenHandle(const std::string& path, bool snapshots);
  Status LoadRoot();
  Status CheckHeader(uint64_t root_offset, uint64_t root_bytes) const;
  Status LoadGroups();
  Status AllocateGroup(GroupEntry* entry, uint64_t bytes);
  Status AddGroup(const GroupEntry& entry);
  Status PrepareGrowth();
  Status SyncGrowth(uint64_t bytes_before);

  // Constant once open.
  pmemobjpool* handle_ = nullptr;
  const char* base_ = nullptr;
  RootObject* root_ = nullptr;
  Medium medium_ = Medium::kFile;
  bool can_grow_ = false;
  std::string path_;   // of the set's directory, or the file
  std::string parts_;  // the directory in which parts appear; "" for a single file
  FileLock lock_;      // of the set's directory; a single file is locked by libpmemobj

  Mutex grow_mutex_;  // one Grow at a time; taken before mutex_
  mutable Mutex mutex_;
  std::vector<Span> groups_ GUARDED_BY(mutex_);
  uint64_t group_heap_bytes_ GUARDED_BY(mutex_) = 0;  // libpmemobj's space in all groups
};

}  // namespace pmlsm
