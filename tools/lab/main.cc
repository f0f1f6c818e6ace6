// node_experiments and node_counts: the paper's experiments on nodes and trees. --help lists the flags.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <string>

#include "tools/lab/access_tracer.h"
#include "tools/lab/config.h"
#include "tools/lab/experiments.h"

namespace pmlsm::lab {
namespace {

void AddContext(const Lab& lab) {
  benchmark::AddCustomContext("medium", ToString(lab.medium()));
  benchmark::AddCustomContext("instances_bytes", std::to_string(lab.config().instances_bytes));
  benchmark::AddCustomContext("operations", std::to_string(lab.config().operations));
  benchmark::AddCustomContext("seed", std::to_string(lab.config().seed));
  benchmark::AddCustomContext("delays", lab.config().delays.empty() ? "none" : "injected, as modelled");
  benchmark::AddCustomContext("reads", AccessTracer::Available() ? "counted" : "not counted");
}

int Main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::unique_ptr<Lab> lab;
  const Status status = Lab::New(ParseCommandLine(argc, argv), &lab);
  if (!status.ok()) {
    fprintf(stderr, "node_experiments: %s\n", status.ToString().c_str());
    return 1;
  }
  AddContext(*lab);
  AddSearch(lab.get());
  AddTraverse(lab.get());
  AddIterate(lab.get());
  AddInsert(lab.get());
  AddSplit(lab.get());
  AddAllocate(lab.get());
  AddErase(lab.get());
  AddBalance(lab.get());
  AddMergeNodes(lab.get());
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace
}  // namespace pmlsm::lab

int main(int argc, char** argv) { return pmlsm::lab::Main(argc, argv); }
