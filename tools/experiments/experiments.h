// The two experiments. Each adds its rows; an error means that something could not be measured, or that a
// table read back was not what it should be.
#pragma once

#include <vector>

#include "tools/experiments/bed.h"
#include "tools/experiments/config.h"
#include "tools/experiments/row.h"

namespace pmlsm::experiments {

// E6, move node (Figure 3(a), Figure 4): a sorted or hash memtable becomes a table in PMem and is published.
Status RunMoveNode(const Config& config, Bed* bed, std::vector<Row>* rows);

// E7, merge level (Figure 3(b), (c), Figure 4): runs of one table each become one table and are published.
Status RunMergeLevel(const Config& config, Bed* bed, std::vector<Row>* rows);

}  // namespace pmlsm::experiments
