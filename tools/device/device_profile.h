// DeviceProfile: what a device takes to read and to write, so that exact counts of lines, blocks and fences can be
// turned into a time that this machine cannot measure. A model, and a plain one: all accesses one after the other,
// nothing overlaps, the CPU's own work is free. It is for comparing choices on one device, not for predicting
// throughput.
//
//   time = blocks read * read_block_ns + further lines read of them * read_line_ns
//        + blocks written * write_block_ns + further lines written of them * write_line_ns + fences * fence_ns
//
// Thread safety: plain data and free functions.
#pragma once

#include <string>
#include <vector>

#include "pmlsm/status.h"

namespace pmlsm::device {

struct DeviceProfile {
  std::string name;
  double read_block_ns = 0;   // the first line of a block of 256 B
  double read_line_ns = 0;    // a further line of the same block
  double write_block_ns = 0;  // until the first line of a block is accepted
  double write_line_ns = 0;
  double fence_ns = 0;
};

// Of one operation, on average. Lines of 64 B, blocks of 256 B.
struct AccessCounts {
  double lines_read = 0;
  double blocks_read = 0;
  double lines_written = 0;
  double blocks_written = 0;
  double fences = 0;
};

double ModelledNanos(const AccessCounts& counts, const DeviceProfile& profile);

// DRAM and Optane are the paper's Table 1, at its least ("idle") and at its most ("loaded"); CXL memory is an
// assumption of ours: twice to three times DRAM. What the table does not say is assumed for all alike: a further line
// of a block costs a quarter of the first, and a fence waits for writes and adds nothing.
const std::vector<DeviceProfile>& PresetProfiles();

// A JSON object of the members above, as `pmlsm probe` prints it. InvalidArgument names the member that is missing or
// no number from 0 to 1e9.
Status ReadProfile(const std::string& file, DeviceProfile* profile);
std::string ToJson(const DeviceProfile& profile);

}  // namespace pmlsm::device
