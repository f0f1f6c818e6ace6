// The texts that the tools take for the enums of Options: those that ToString gives ("2way", "tiered", ...).
#pragma once

#include <string>

#include "pmlsm/options.h"
#include "pmlsm/status.h"

namespace pmlsm {

// InvalidArgument whose message lists the names, if text is none of them.
Status ParseOptionName(const std::string& text, FailureAtomicity* value);
Status ParseOptionName(const std::string& text, MemTableType* value);
Status ParseOptionName(const std::string& text, MergeOrder* value);
Status ParseOptionName(const std::string& text, MergeDestination* value);
Status ParseOptionName(const std::string& text, CompactionStyle* value);

}  // namespace pmlsm
