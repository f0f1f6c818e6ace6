// What a run prints, and its JSON file.
#pragma once

#include <string>
#include <vector>

#include "pmlsm/status.h"
#include "tools/experiments/config.h"
#include "tools/experiments/findings.h"
#include "tools/experiments/row.h"

namespace pmlsm::experiments {

void PrintHead(const Config& config, const std::string& medium);
void PrintRows(Experiment experiment, const std::vector<Row>& rows);
void PrintFindings(const std::vector<Finding>& findings);

Status WriteJson(const Config& config, const std::string& medium, const std::vector<Row>& rows,
                 const std::vector<Finding>& findings);

}  // namespace pmlsm::experiments
