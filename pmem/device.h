// Device: what kind of medium a path lies on, and so what makes a store durable there. Found out at open from
// the file system and the mapping (statfs, MAP_SYNC), never from an environment variable.
//
// Thread safety: free functions, safe from any thread.
#pragma once

#include <cstdint>
#include <string>

#include "pmlsm/status.h"

namespace pmlsm {

enum class Medium : uint8_t {
  kDax,    // persistent memory: MAP_SYNC works; flush instructions make stores durable
  kTmpfs,  // DRAM: survives a killed process, only emulates a power cut; flush instructions are executed and
           // counted
  kFile,   // a plain file: the page cache is made durable by msync, a system call for each fence
};

// "DAX", "tmpfs (emulated)", "plain file (msync)".
const char* ToString(Medium medium);

// The medium of an existing file or directory (a device path /dev/dax* is kDax). InvalidArgument for a plain
// file if PMEM_IS_PMEM_FORCE is set in the environment: libpmem would then skip the msync that the file
// needs.
Status DetectMedium(const std::string& path, Medium* medium);

// Size of the file system that holds `path`, bytes.
Status FileSystemBytes(const std::string& path, uint64_t* total, uint64_t* available);

}  // namespace pmlsm
