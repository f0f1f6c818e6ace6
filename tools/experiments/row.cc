#include "tools/experiments/row.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "util/check.h"

namespace pmlsm::experiments {

const char* ToString(Experiment value) { return value == Experiment::kMoveNode ? "E6" : "E7"; }

const char* ToString(MergeForm value) {
  switch (value) {
    case MergeForm::kMaterialized:
      return "2way-materialized";
    case MergeForm::kStreaming:
      return "2way-streaming";
    case MergeForm::kKWay:
      return "kway";
    case MergeForm::kAuto:
      return "auto";
  }
  return "?";
}

std::vector<Setup> MergeSetups(uint64_t node_bytes) {
  constexpr auto kDirect = MergeDestination::kDirect;
  constexpr auto kBuffered = MergeDestination::kBuffered;
  constexpr std::pair<MergeForm, MergeDestination> kWays[] = {{MergeForm::kMaterialized, kDirect},
                                                              {MergeForm::kMaterialized, kBuffered},
                                                              {MergeForm::kStreaming, kDirect},
                                                              {MergeForm::kStreaming, kBuffered},
                                                              {MergeForm::kKWay, kDirect},
                                                              {MergeForm::kKWay, kBuffered},
                                                              {MergeForm::kAuto, MergeDestination::kAuto}};
  std::vector<Setup> setups;
  for (const uint64_t duplicates : kMergeDuplicates) {
    for (const auto& [form, destination] : kWays) {
      for (const auto mode :
           {FailureAtomicity::kTransaction, FailureAtomicity::kIndividual, FailureAtomicity::kAtomic}) {
        Setup setup;
        setup.experiment = Experiment::kMergeLevel;
        setup.node_bytes = node_bytes;
        setup.atomicity = mode;
        setup.duplicates = duplicates;
        setup.form = form;
        setup.destination = destination;
        setups.push_back(setup);
      }
    }
  }
  return setups;
}

std::string MergeRowName(const Setup& setup) {
  return std::string(ToString(setup.form)) + "/" + pmlsm::ToString(setup.destination) + "/" +
         pmlsm::ToString(setup.atomicity) + "/" + std::to_string(setup.duplicates);
}

bool Setup::operator==(const Setup& other) const {
  const auto all = [](const Setup& s) {
    return std::tie(s.experiment, s.node_bytes, s.atomicity, s.memtable, s.duplicates, s.form, s.destination);
  };
  return all(*this) == all(other);
}

double Median(std::vector<double> values) {
  CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double Min(const std::vector<double>& values) { return *std::min_element(values.begin(), values.end()); }

double NanosPerEntry(const Row& row) { return Median(row.nanos) / static_cast<double>(row.entries_read); }

double FillNanosPerEntry(const Row& row) {
  return Median(row.fill_nanos) / static_cast<double>(row.entries_read);
}

}  // namespace pmlsm::experiments
