#include "tools/lab/delays.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

namespace pmlsm::lab {

std::string PlainRowName(const std::string& name) { return name.substr(0, name.find("/iterations:")); }

Status ReadDelays(const std::string& file, const std::string& device, DelayTable* delays) {
  std::ifstream in(file);
  if (!in) return Status::InvalidArgument(file, "cannot be read");
  const auto json = nlohmann::json::parse(in, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("benchmarks") || !json["benchmarks"].is_array()) {
    return Status::InvalidArgument(file, "is not what node_counts --benchmark_out writes");
  }
  for (const auto& row : json["benchmarks"]) {
    const auto there = row.find("modelled_ns:" + device);
    const auto dram = row.find("modelled_ns:dram");
    if (there == row.end() || dram == row.end()) continue;
    (*delays)[PlainRowName(row.at("name"))] = std::max(0.0, there->get<double>() - dram->get<double>());
  }
  return delays->empty() ? Status::InvalidArgument(file, "has no modelled time of device " + device)
                         : Status::OK();
}

void Wait(double nanos) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(static_cast<int64_t>(nanos));
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace pmlsm::lab
