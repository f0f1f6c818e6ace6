// ProbeDevice: measures a DeviceProfile on a medium, with one thread: random reads that wait for each other, and writes
// that are each flushed and fenced. On tmpfs that is DRAM, with the caches in front of it.
//
// Thread safety: free function.
#pragma once

#include <cstdint>
#include <string>

#include "pmem/device.h"
#include "pmlsm/status.h"
#include "tools/device/device_profile.h"

namespace pmlsm::device {

// Makes a pool with `bytes` of blocks, at least 1 MiB, in a directory of its own below `directory`, which goes again.
Status ProbeDevice(const std::string& directory, uint64_t bytes, Medium* medium, DeviceProfile* profile);

}  // namespace pmlsm::device
