// RawPool: the bytes of a pool's files, mapped read-only and without libpmemobj, for looking into a pool that
// libpmemobj refuses, or that it would crash on. Nothing is written, neither to the files nor beside them.
//
// The parts are mapped one after the other, as libpmemobj does it. What cannot be read is zero, so that
// checksums refuse it, and is listed by lost(): a part that is missing, the end of one that was cut short,
// pages with a media error. A page that raises SIGBUS on the way is replaced by a page of zeros, and the load
// that hit it goes on.
//
// Where a part is missing or short, its true size is told by the size that the pool's descriptor records, or,
// if that leaves a choice, by the rule that the pool grows by.
//
// Thread safety: reading is free for all. While one exists, the process's action for SIGBUS is RawPool's; a
// fault elsewhere ends the process. One RawPool at a time in a process (CHECKed).
#pragma once

#include <signal.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pmem/files.h"
#include "pmem/pmdk_descriptor.h"
#include "pmem/pool.h"
#include "pmlsm/status.h"

namespace pmlsm {

class RawPool {
 public:
  // Locks the directory or file. `pool_file` as in Options; "" = the set in `set_dir`. PathNotFound if there is
  // no pool, IOError with "lock" if it is open; damage is no error.
  static Status Open(const std::string& set_dir, const std::string& pool_file,
                     std::unique_ptr<RawPool>* pool);
  ~RawPool();
  RawPool(const RawPool&) = delete;
  RawPool& operator=(const RawPool&) = delete;

  const char* base() const { return base_; }
  template <typename T = char>
  const T* At(uint64_t offset) const {
    return reinterpret_cast<const T*>(base_ + offset);
  }
  uint64_t bytes() const { return bytes_; }
  // What lies in the pool may be read, though it may be lost.
  bool Holds(uint64_t offset, uint64_t bytes) const { return offset <= bytes_ && bytes <= bytes_ - offset; }

  struct Lost {
    Span span;
    std::string why;
  };
  // In order of offset. Media errors appear once they have been hit.
  std::vector<Lost> lost() const;
  // "000001.pmem, byte 4096": where in the files an offset lies.
  std::string FilePlace(uint64_t offset) const;

 private:
  struct File {
    std::string name;     // in the directory, or the path
    uint64_t offset = 0;  // in the pool
    uint64_t bytes = 0;   // that it should have
    uint64_t mapped = 0;  // that are there
  };

  RawPool() = default;
  Status FindParts(const std::string& set_dir);
  Status FindFile(const std::string& pool_file);
  void SettleSizes(uint64_t pool_bytes, uint64_t max_pmem_bytes);
  Status Map();
  static void OnBusError(int signal, siginfo_t* info, void* context);

  FileLock lock_;
  std::string directory_;  // of the parts, with a slash; "" for a single file
  std::vector<File> files_;
  void* reserved_ = nullptr;  // address space: bytes_ and what aligns base_
  const char* base_ = nullptr;
  uint64_t bytes_ = 0;
  struct sigaction action_before_ = {};
};

}  // namespace pmlsm
