#include "tools/experiments/row.h"

#include <algorithm>
#include <tuple>

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
  }
  return "?";
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
