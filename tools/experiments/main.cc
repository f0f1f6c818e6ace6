// lsm_experiments: the paper's experiments E6 (move node) and E7 (merge level) on pmlsm's own components.
// --help lists the flags.
#include <cstdio>

#include "tools/bench/clock.h"
#include "tools/experiments/config.h"
#include "tools/experiments/experiments.h"
#include "tools/experiments/findings.h"
#include "tools/experiments/report.h"

namespace pmlsm::experiments {
namespace {

Status Run(const Config& config) {
  std::unique_ptr<Bed> bed;
  Status s = Bed::New(config.dir, &bed);
  if (!s.ok()) return s;
  const std::string medium = ToString(bed->medium());
  PrintHead(config, medium);
  std::vector<Row> rows;
  if (config.move_node) {
    s = RunMoveNode(config, bed.get(), &rows);
    if (!s.ok()) return s;
    PrintRows(Experiment::kMoveNode, rows);
  }
  if (config.merge_level) {
    s = RunMergeLevel(config, bed.get(), &rows);
    if (!s.ok()) return s;
    PrintRows(Experiment::kMergeLevel, rows);
  }
  const std::vector<Finding> findings = JudgeFindings(rows);
  PrintFindings(findings);
  return config.json_file.empty() ? Status::OK() : WriteJson(config, medium, rows, findings);
}

}  // namespace
}  // namespace pmlsm::experiments

int main(int argc, char** argv) {
  const pmlsm::experiments::Config config = pmlsm::experiments::ParseCommandLine(argc, argv);
  pmlsm::bench::TickClock::Calibrate();
  const pmlsm::Status s = pmlsm::experiments::Run(config);
  if (s.ok()) return 0;
  fprintf(stderr, "lsm_experiments: %s: %s\n", config.dir.c_str(), s.ToString().c_str());
  return 1;
}
