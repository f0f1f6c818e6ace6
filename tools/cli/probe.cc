#include <cstdio>

#include "pmem/device.h"
#include "tools/cli/commands.h"
#include "tools/device/device_probe.h"

namespace pmlsm::cli {

int Probe(const std::string& directory, const ProbeArguments& arguments) {
  Medium medium;
  device::DeviceProfile profile;
  const Status s = device::ProbeDevice(directory, arguments.bytes, &medium, &profile);
  if (!s.ok()) return Failed(directory, s);
  fprintf(stderr, "pmlsm: %s: %s\n", directory.c_str(), ToString(medium));
  printf("%s\n", device::ToJson(profile).c_str());
  return kExitOk;
}

}  // namespace pmlsm::cli
