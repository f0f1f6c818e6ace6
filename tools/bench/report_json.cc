// The JSON file of a run.
#include <fstream>
#include <nlohmann/json.hpp>

#include "tools/bench/report.h"

namespace pmlsm::bench {
namespace {

using Json = nlohmann::ordered_json;

// Of a latency curve, denser towards the slow end.
constexpr double kCurvePercents[] = {0,  1,  5,  10, 20,   30,   40,    50,    60,     70,
                                     80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 99.999, 100};

Json ToJson(const PmemCounts& counts) {
  return {
      {"bytes", counts.bytes}, {"lines", counts.lines}, {"blocks", counts.blocks}, {"fences", counts.fences}};
}

Json ToJson(const Config& config, const std::string& medium, const Outcome& o) {
  constexpr double kMicro = 1000;
  Json json = {
      {"engine", config.engine},
      {"benchmark", o.benchmark},
      {"threads", o.threads},
      {"num", config.num},
      {"key_bytes", config.key_bytes},
      {"value_bytes", config.value_bytes},
      {"batch_size", config.batch_size},
      {"seek_nexts", config.seek_nexts},
      {"sync", config.engine_options.sync},
      {"disable_wal", config.engine_options.disable_wal},
      {"verify_checksum", config.engine_options.verify_checksum},
      {"random_with_replacement", config.random_with_replacement},
      {"seed", config.seed},
      {"medium", medium},
      {"operations", o.operations},
      {"seconds", o.seconds},
      {"ops_per_sec", o.OpsPerSecond()},
      {"bytes", o.bytes},
      {"reads", o.reads},
      {"writes", o.writes},
      {"found", o.found},
      {"writer_operations", o.writer_operations},
      {"writer_ops_per_sec", o.writer_ops_per_second},
      {"cpu_seconds", o.cpu_seconds},
      {"anonymous_bytes", o.anonymous_bytes},
      {"average_us", o.histogram.Average() / kMicro},
      {"p50_us", o.histogram.Percentile(50) / kMicro},
      {"p99_us", o.histogram.Percentile(99) / kMicro},
      {"p999_us", o.histogram.Percentile(99.9) / kMicro},
      {"max_us", static_cast<double>(o.histogram.max()) / kMicro},
  };
  for (const double percent : kCurvePercents)
    json["latency_us"].push_back({percent, o.histogram.Percentile(percent) / kMicro});
  if (o.memtable_bytes >= 0) json["memtable_bytes"] = o.memtable_bytes;
  if (o.floor_nanos != 0) {
    json["floor_max_us"] = static_cast<double>(o.floor_nanos) / kMicro;
    json["max_above_floor_us"] = static_cast<double>(o.NanosAboveFloor()) / kMicro;
  }
  if (o.has_pmem_counts) {
    Json& pmem = json["pmem"];
    for (const auto& [name, counts] : o.pmem) pmem[name] = ToJson(counts);
  }
  return json;
}

}  // namespace

Status WriteJson(const Config& config, const std::string& medium, const std::vector<Outcome>& outcomes) {
  Json all = Json::array();
  for (const Outcome& outcome : outcomes) all.push_back(ToJson(config, medium, outcome));
  std::ofstream file(config.json_file);
  file << all.dump(2) << "\n";
  file.close();
  if (!file) return Status::IOError("cannot write --json file", config.json_file);
  return Status::OK();
}

}  // namespace pmlsm::bench
