#include "tools/option_names.h"

#include <initializer_list>

namespace pmlsm {
namespace {

template <typename Enum>
Status Parse(const std::string& text, std::initializer_list<Enum> values, Enum* result) {
  std::string names;
  for (const Enum value : values) {
    if (text == ToString(value)) {
      *result = value;
      return Status::OK();
    }
    names += (names.empty() ? "" : ", ") + std::string(ToString(value));
  }
  return Status::InvalidArgument("one of " + names);
}

}  // namespace

Status ParseOptionName(const std::string& text, FailureAtomicity* value) {
  return Parse(text,
               {FailureAtomicity::kTransaction, FailureAtomicity::kIndividual, FailureAtomicity::kAtomic},
               value);
}
Status ParseOptionName(const std::string& text, MemTableType* value) {
  return Parse(text, {MemTableType::kSorted, MemTableType::kHash}, value);
}
Status ParseOptionName(const std::string& text, MergeOrder* value) {
  return Parse(text, {MergeOrder::k2Way, MergeOrder::kKWay, MergeOrder::kAuto}, value);
}
Status ParseOptionName(const std::string& text, MergeDestination* value) {
  return Parse(text, {MergeDestination::kDirect, MergeDestination::kBuffered, MergeDestination::kAuto},
               value);
}
Status ParseOptionName(const std::string& text, CompactionStyle* value) {
  return Parse(text, {CompactionStyle::kTiered, CompactionStyle::kLeveled, CompactionStyle::kLazyLeveled},
               value);
}

}  // namespace pmlsm
