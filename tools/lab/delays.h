// Injected delays: after each operation the program that measures time waits for as long as a device would have taken
// longer than DRAM for the operation's reads and writes. How long that is, is the model's answer to the counts that
// node_counts has written; so a row's time is measured, but for the device, which is modelled.
//
// Thread safety: free functions.
#pragma once

#include <string>

#include "pmlsm/status.h"
#include "tools/lab/config.h"

namespace pmlsm::lab {

// From the JSON file of a run of node_counts: what each row takes on `device`, less what it takes on "dram".
// InvalidArgument: no such file, or no row with both times.
Status ReadDelays(const std::string& file, const std::string& device, DelayTable* delays);

// "E1/layout:sorted/iterations:64/real_time": without what Google Benchmark adds.
std::string PlainRowName(const std::string& name);

// Busy.
void Wait(double nanos);

}  // namespace pmlsm::lab
