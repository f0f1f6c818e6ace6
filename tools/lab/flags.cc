#include <gflags/gflags.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "tools/flag_check.h"
#include "tools/lab/access_tracer.h"
#include "tools/lab/config.h"
#include "tools/lab/delays.h"

DEFINE_string(dir, "/dev/shm", "An existing directory; the pool is made below it and removed at the end");
DEFINE_bool(quick, false, "Nodes of 256 B, 1 KiB and 4 KiB only, less memory and fewer operations");
DEFINE_int64(
    instances_mib, 0,
    "MiB of nodes that a row visits at random; 0 = twice the last-level cache, at least 64 and at most 256 "
    "(a virtual machine may show a cache that it shares with many others); 32 with --quick");
DEFINE_int64(operations, 0, "Operations of a row; 0 = 20000, 4000 with --quick, 64 where reads are counted");
DEFINE_string(profile, "",
              "A file with a device profile, as `pmlsm probe` prints it, whose times are modelled, too; "
              "node_counts only");
DEFINE_string(
    inject, "",
    "A device of --counts: after each operation wait for as long as it is modelled to take longer than "
    "DRAM");
DEFINE_string(counts, "", "With --inject: the --benchmark_out file of a run of node_counts");
DEFINE_int64(seed, 1, "Seed of all random numbers");

namespace pmlsm::lab {
namespace {

bool CheckDir(const char* flag, const std::string& value) {
  std::error_code error;
  if (std::filesystem::is_directory(value, error)) return true;
  return RefuseFlag(flag, value, "an existing directory");
}
// E2's deepest tree takes more than 8.
bool CheckInstances(const char* flag, int64_t value) {
  if (value == 0 || (value >= 16 && value <= 65536)) return true;
  return RefuseFlag(flag, std::to_string(value), "0, or 16 to 65536");
}
bool CheckOperations(const char* flag, int64_t value) { return CheckFlagRange(flag, value, 0, 1000000000); }
bool CheckSeed(const char* flag, int64_t value) { return CheckFlagRange(flag, value, 0, int64_t{1} << 48); }

}  // namespace
}  // namespace pmlsm::lab

DEFINE_validator(dir, &pmlsm::lab::CheckDir);
DEFINE_validator(instances_mib, &pmlsm::lab::CheckInstances);
DEFINE_validator(operations, &pmlsm::lab::CheckOperations);
DEFINE_validator(seed, &pmlsm::lab::CheckSeed);

namespace pmlsm::lab {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

FlaggedTool Tool() {
  return {"node_experiments", "tools/lab/",
          "node_experiments runs E1 to E5 and E8 to E10 of Götze et al., \"Data Structure Primitives on "
          "Persistent\n"
          "Memory\", on nodes and trees of primitives/; node_counts is the same program with every load "
          "counted, whose\n"
          "times mean nothing. doc/PRIMITIVES.md says what is measured; scripts/experiments runs both and "
          "reports.\n\n"
          "Exit code: 0, or 1 if a flag is wrong or the pool cannot be made.",
          "\nGoogle Benchmark's: --benchmark_filter=REGEX (E1/layout:hashing.*), --benchmark_out=FILE, "
          "--benchmark_list_tests and others; --benchmark_help lists them.\n"};
}

uint64_t InstancesBytes() {
  if (FLAGS_instances_mib != 0) return static_cast<uint64_t>(FLAGS_instances_mib) * kMiB;
  if (FLAGS_quick || AccessTracer::Available()) return 32 * kMiB;
  const int64_t cache_bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const uint64_t twice = cache_bytes > 0 ? 2 * static_cast<uint64_t>(cache_bytes) : 0;
  return std::clamp(twice / kMiB * kMiB, 64 * kMiB, 256 * kMiB);
}

uint64_t Operations() {
  if (FLAGS_operations != 0) return static_cast<uint64_t>(FLAGS_operations);
  if (AccessTracer::Available()) return 64;
  return FLAGS_quick ? 4000 : 20000;
}

[[noreturn]] void Refuse(const char* flag, const std::string& value, const Status& status) {
  RefuseCommandLine(Tool(), std::string("--") + flag + "=" + value + ": " + status.ToString());
}

void AddProfiles(Config* config) {
  config->profiles = device::PresetProfiles();
  if (FLAGS_profile.empty()) return;
  device::DeviceProfile profile;
  const Status status = device::ReadProfile(FLAGS_profile, &profile);
  if (!status.ok()) Refuse("profile", FLAGS_profile, status);
  config->profiles.push_back(profile);
}

void AddDelays(Config* config) {
  if (FLAGS_inject.empty() != FLAGS_counts.empty()) {
    RefuseCommandLine(Tool(), "--inject and --counts: must be given both or neither");
  }
  if (FLAGS_inject.empty()) return;
  if (AccessTracer::Available()) RefuseCommandLine(Tool(), "--inject: must be given to node_experiments");
  const Status status = ReadDelays(FLAGS_counts, FLAGS_inject, &config->delays);
  if (!status.ok()) Refuse("counts", FLAGS_counts, status);
}

}  // namespace

Config ParseCommandLine(int argc, char** argv) {
  ParseFlags(Tool(), argc, argv);
  Config config;
  config.dir = FLAGS_dir;
  config.quick = FLAGS_quick;
  config.instances_bytes = InstancesBytes();
  config.operations = Operations();
  config.seed = static_cast<uint64_t>(FLAGS_seed);
  AddProfiles(&config);
  AddDelays(&config);
  return config;
}

}  // namespace pmlsm::lab
