// The experiments on nodes and trees, a file each, which opens with the question. Each registers its rows. E6 and E7
// are in tools/experiments, on the components of the engine.
#pragma once

#include "tools/lab/lab.h"

namespace pmlsm::lab {

void AddSearch(Lab* lab);      // E1
void AddTraverse(Lab* lab);    // E2
void AddIterate(Lab* lab);     // E3
void AddInsert(Lab* lab);      // E4
void AddSplit(Lab* lab);       // E5
void AddAllocate(Lab* lab);    // E5's allocation of the new node
void AddErase(Lab* lab);       // E8
void AddBalance(Lab* lab);     // E9
void AddMergeNodes(Lab* lab);  // E10

}  // namespace pmlsm::lab
