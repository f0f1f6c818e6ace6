#include "tools/lab/measure.h"

namespace pmlsm::lab {

RowCounts::RowCounts(Lab* lab, Placement placement) : lab_(lab), before_(lab->SettledCounts()) {
  const Region region = lab->region(placement);
  LineTracer::Watch(region.base + region.begin, region.bytes);
}

void RowCounts::Report(benchmark::State* state) {
  PersistCounts stored = lab_->SettledCounts();
  stored -= before_;
  const auto average = [state](uint64_t sum) {
    return static_cast<double>(sum) / static_cast<double>(state->iterations());
  };
  benchmark::UserCounters& row = state->counters;
  row["bytes_modified"] = average(stored.bytes_modified);
  if (!counts_all_lines_) return;
  row["lines_written"] = average(stored.lines_flushed);
  row["blocks_written"] = average(stored.blocks_touched);
  row["fences"] = average(stored.fences);
  if (!LineTracer::Available()) return;
  row["lines_read"] = average(read_.lines);
  row["blocks_read"] = average(read_.blocks);
}

std::string RowName(const char* experiment,
                    std::initializer_list<std::pair<const char*, std::string>> variables) {
  std::string name = experiment;
  for (const auto& [variable, value] : variables) name += std::string("/") + variable + ":" + value;
  return name;
}

void AddRow(const std::string& name, uint64_t operations, const std::function<void(benchmark::State*)>& run) {
  benchmark::RegisterBenchmark(name.c_str(), [run](benchmark::State& state) { run(&state); })
      ->Iterations(static_cast<int64_t>(operations))
      ->UseRealTime()
      ->Unit(benchmark::kNanosecond);
}

}  // namespace pmlsm::lab
