// Findings: what the paper says about E6 and E7, each as a ratio of rows that differ in one choice, and
// whether the rows measured here agree; and whether the engine's automatic choice keeps its bound.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/experiments/row.h"

namespace pmlsm::experiments {

struct Finding {
  std::string id;
  std::string section;  // of the paper
  std::string claim;
  std::string ratio;    // what is divided by what
  std::string verdict;  // "holds", "holds in part", "does not hold", "not measured"
  std::string reason;   // the likely one, where it does not hold everywhere; else ""
  uint64_t pairs = 0;   // of rows that were compared
  uint64_t agreeing = 0;
  double median = 0;  // of the ratios
  double min = 0;
  double max = 0;
  std::vector<std::pair<uint64_t, double>> by_node;  // node bytes, median of the ratios
};

std::vector<Finding> JudgeFindings(const std::vector<Row>& rows);

// How a verdict comes about, for the reader.
std::string VerdictRules();

}  // namespace pmlsm::experiments
