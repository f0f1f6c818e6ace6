#include <gflags/gflags.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tools/experiments/config.h"
#include "tools/experiments/row.h"
#include "tools/flag_check.h"

DEFINE_string(experiment, "E6,E7", "Comma-separated list: E6 = move node, E7 = merge level");
DEFINE_int64(repetitions, 11, "Measured repetitions of each row");
DEFINE_string(dir, "/dev/shm", "An existing directory; the pool is made below it and removed at the end");
DEFINE_int64(seed, 1, "Seed of all random numbers");
DEFINE_string(json, "", "Write rows and findings to this file");
DEFINE_int64(node_bytes_min, 1024, "The smallest node, bytes of its keys and values; a power of two");
DEFINE_int64(node_bytes_max, 1 << 20, "The largest one; E6 takes each power of two, E7 every second one");
DEFINE_int64(inputs, 8, "Runs, of one node each, that an E7 merge reads");
DEFINE_string(
    row, "",
    "The only row of E7 to measure, ORDER/DESTINATION/ATOMICITY/DUPLICATES as the table names them, such "
    "as kway/direct/transaction/50 or auto/auto/atomic/0; empty = all");
DEFINE_bool(evict_caches, true, "Overwrite the CPU's caches before each sample");

namespace pmlsm::experiments {
namespace {

// What one merge writes has to fit into one range of a PMDK transaction (Publisher::range_bytes_max), which
// is 16 MiB in this pool; a table takes up to half as much again as its keys and values.
constexpr int64_t kMergedBytesMax = 8 << 20;

bool CheckRepetitions(const char* flag, int64_t value) { return CheckFlagRange(flag, value, 1, 10000); }
bool CheckSeed(const char* flag, int64_t value) { return CheckFlagRange(flag, value, 0, int64_t{1} << 48); }
bool CheckInputs(const char* flag, int64_t value) { return CheckFlagRange(flag, value, 2, 64); }
bool CheckNodeBytes(const char* flag, int64_t value) {
  if (value >= 1024 && value <= (1 << 20) && (value & (value - 1)) == 0) return true;
  return RefuseFlag(flag, std::to_string(value), "a power of two, 1024 to 1048576");
}
bool CheckDir(const char* flag, const std::string& value) {
  std::error_code error;
  if (std::filesystem::is_directory(value, error)) return true;
  return RefuseFlag(flag, value, "an existing directory");
}
// At once, so that a long run does not end in this error.
bool CheckJson(const char* flag, const std::string& value) {
  if (value.empty() || std::ofstream(value, std::ios::app)) return true;
  return RefuseFlag(flag, value, "a file that can be written");
}
bool CheckExperiment(const char* flag, const std::string& value) {
  std::stringstream list(value);
  bool any = false;
  for (std::string name; std::getline(list, name, ',');) {
    if (name != "E6" && name != "E7") return RefuseFlag(flag, value, "a comma-separated list of E6, E7");
    any = true;
  }
  return any || RefuseFlag(flag, value, "a comma-separated list of E6, E7");
}

bool CheckRow(const char* flag, const std::string& value) {
  if (value.empty()) return true;
  for (const Setup& setup : MergeSetups(/*node_bytes=*/0)) {
    if (value == MergeRowName(setup)) return true;
  }
  return RefuseFlag(
      flag, value,
      "ORDER/DESTINATION/ATOMICITY/DUPLICATES: 2way-materialized, 2way-streaming or kway / direct or "
      "buffered, or auto/auto / transaction, individual or atomic / 0, 50 or 100");
}

}  // namespace
}  // namespace pmlsm::experiments

DEFINE_validator(experiment, &pmlsm::experiments::CheckExperiment);
DEFINE_validator(repetitions, &pmlsm::experiments::CheckRepetitions);
DEFINE_validator(dir, &pmlsm::experiments::CheckDir);
DEFINE_validator(seed, &pmlsm::experiments::CheckSeed);
DEFINE_validator(json, &pmlsm::experiments::CheckJson);
DEFINE_validator(node_bytes_min, &pmlsm::experiments::CheckNodeBytes);
DEFINE_validator(node_bytes_max, &pmlsm::experiments::CheckNodeBytes);
DEFINE_validator(row, &pmlsm::experiments::CheckRow);
DEFINE_validator(inputs, &pmlsm::experiments::CheckInputs);

namespace pmlsm::experiments {
namespace {

FlaggedTool Tool() {
  return {
      "lsm_experiments", "tools/experiments/",
      "lsm_experiments measures how pmlsm moves DRAM data to PMem (E6, move node) and merges runs (E7, "
      "merge\n"
      "level), with each of its primitives, and compares the figures with the findings of Götze et al.,\n"
      "\"Data Structure Primitives on Persistent Memory\". doc/EXPERIMENTS.md says what is measured.\n\n"
      "Exit code: 0, or 1 if a flag is wrong, the pool cannot be made, or a table read back is not what was\n"
      "moved or merged. That a finding of the paper does not hold is no error.",
      ""};
}

[[noreturn]] void Refuse(const std::string& message) { RefuseCommandLine(Tool(), message); }

}  // namespace

Config ParseCommandLine(int argc, char** argv) {
  ParseFlags(Tool(), argc, argv);
  if (FLAGS_node_bytes_min > FLAGS_node_bytes_max) {
    Refuse("--node_bytes_min=" + std::to_string(FLAGS_node_bytes_min) +
           ": must be 1024 to --node_bytes_max (" + std::to_string(FLAGS_node_bytes_max) + ")");
  }

  Config config;
  config.move_node = FLAGS_experiment.find("E6") != std::string::npos;
  config.merge_level = FLAGS_experiment.find("E7") != std::string::npos;
  if (config.merge_level && FLAGS_inputs * FLAGS_node_bytes_max > kMergedBytesMax) {
    Refuse("--inputs=" + std::to_string(FLAGS_inputs) + ": must be 2 to " +
           std::to_string(kMergedBytesMax / FLAGS_node_bytes_max) +
           " with --node_bytes_max=" + std::to_string(FLAGS_node_bytes_max));
  }
  config.repetitions = static_cast<uint64_t>(FLAGS_repetitions);
  config.dir = FLAGS_dir;
  config.json_file = FLAGS_json;
  config.seed = static_cast<uint64_t>(FLAGS_seed);
  config.node_bytes_min = static_cast<uint64_t>(FLAGS_node_bytes_min);
  config.node_bytes_max = static_cast<uint64_t>(FLAGS_node_bytes_max);
  config.inputs = static_cast<uint64_t>(FLAGS_inputs);
  config.merge_row = FLAGS_row;
  config.evict_caches = FLAGS_evict_caches;
  return config;
}

}  // namespace pmlsm::experiments
