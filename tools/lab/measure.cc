#include "tools/lab/measure.h"

namespace pmlsm::lab {

namespace {

using device::AccessCounts;
using device::DeviceProfile;

// What lies in DRAM is modelled as DRAM, whatever the device is.
double ModelledNanos(const AccessCounts& pmem, const AccessCounts& dram, const DeviceProfile& device) {
  const DeviceProfile& as_dram = device::PresetProfiles().front();
  return device::ModelledNanos(pmem, device) + device::ModelledNanos(dram, as_dram);
}

}  // namespace

RowCounts::RowCounts(Lab* lab) : lab_(lab), before_(lab->SettledCounts()) {
  const auto watch = [lab](Watched watched, Placement placement) {
    const Region region = lab->region(placement);
    AccessTracer::Watch(watched, region.base + region.begin, region.bytes);
  };
  watch(Watched::kPmem, Placement::kPmem);
  watch(Watched::kDram, Placement::kDram);
}

void RowCounts::AddTraced() {
  const auto add = [](LinesRead* sum, Watched watched) {
    const LinesRead seen = AccessTracer::Seen(watched);
    sum->lines += seen.lines;
    sum->blocks += seen.blocks;
  };
  add(&pmem_, Watched::kPmem);
  add(&dram_, Watched::kDram);
  persisted_ += AccessTracer::Persisted();
}

void RowCounts::Report(benchmark::State* state) {
  PersistCounts stored = lab_->SettledCounts();
  stored -= before_;
  const auto average = [state](uint64_t sum) {
    return static_cast<double>(sum) / static_cast<double>(state->iterations());
  };
  benchmark::UserCounters& row = state->counters;
  row["bytes_modified"] = average(stored.bytes_modified);
  if (uses_libpmemobj_) {
    // On a file system that has to be told, libpmemobj does not go through libpmem.
    if (!AccessTracer::Available() || lab_->medium() == Medium::kFile) return;
    stored = persisted_;
  }
  AccessCounts pmem;
  row["lines_written"] = pmem.lines_written = average(stored.lines_flushed);
  row["blocks_written"] = pmem.blocks_written = average(stored.blocks_touched);
  row["fences"] = pmem.fences = average(stored.fences);
  if (!AccessTracer::Available()) return;
  AccessCounts dram;
  row["lines_read"] = pmem.lines_read = average(pmem_.lines);
  row["blocks_read"] = pmem.blocks_read = average(pmem_.blocks);
  row["dram_lines_read"] = dram.lines_read = average(dram_.lines);
  row["dram_blocks_read"] = dram.blocks_read = average(dram_.blocks);
  for (const DeviceProfile& profile : lab_->config().profiles) {
    row["modelled_ns:" + profile.name] = ModelledNanos(pmem, dram, profile);
  }
}

std::string RowName(const char* experiment,
                    std::initializer_list<std::pair<const char*, std::string>> variables) {
  std::string name = experiment;
  for (const auto& [variable, value] : variables) name += std::string("/") + variable + ":" + value;
  return name;
}

void AddRow(Lab* lab, const std::string& name, uint64_t operations,
            const std::function<void(benchmark::State*)>& run) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [lab, name, run](benchmark::State& state) {
                                 lab->SetDelayOf(name);
                                 run(&state);
                               })
      ->Iterations(static_cast<int64_t>(operations))
      ->UseRealTime()
      ->Unit(benchmark::kNanosecond);
}

}  // namespace pmlsm::lab
