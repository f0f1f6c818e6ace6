#include "tools/experiments/report.h"

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tools/experiments/record.h"

namespace pmlsm::experiments {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMicro = 1000;

std::string NodeName(uint64_t bytes) {
  constexpr uint64_t kKiB = 1024;
  return bytes < kKiB * kKiB ? std::to_string(bytes / kKiB) + " KiB"
                             : std::to_string(bytes / kKiB / kKiB) + " MiB";
}

void PrintCost(const Row& row) {
  printf(" %10.1f %10.1f %9.1f %10.0f %10.0f %10.0f %6.1f %11.0f\n", Median(row.nanos) / kMicro,
         Min(row.nanos) / kMicro, NanosPerEntry(row), row.cost.bytes_modified, row.cost.line_bytes,
         row.cost.block_bytes, row.cost.fences, row.cost.snapshot_bytes);
}

void PrintCostHead() {
  printf(" %10s %10s %9s %10s %10s %10s %6s %11s\n", "median us", "min us", "ns/entry", "modified B",
         "64B lines", "256B blks", "fences", "snapshot B");
}

void PrintMoveRows(const std::vector<Row>& rows) {
  printf("\nE6, move node: a memtable becomes a table in PMem\n%-8s %7s %-8s %-12s %9s", "node", "entries",
         "memtable", "atomicity", "fill ns/e");
  PrintCostHead();
  for (const Row& row : rows) {
    if (row.setup.experiment != Experiment::kMoveNode) continue;
    printf("%-8s %7" PRIu64 " %-8s %-12s %9.1f", NodeName(row.setup.node_bytes).c_str(), row.entries_read,
           ToString(row.setup.memtable), ToString(row.setup.atomicity), FillNanosPerEntry(row));
    PrintCost(row);
  }
}

void PrintMergeRows(const std::vector<Row>& rows) {
  printf(
      "\nE7, merge level: runs of one node each become one table in PMem\n%-8s %4s %7s %7s %-17s %-8s %-12s",
      "node", "dup%", "read", "written", "order", "dest", "atomicity");
  PrintCostHead();
  for (const Row& row : rows) {
    if (row.setup.experiment != Experiment::kMergeLevel) continue;
    printf("%-8s %4" PRIu64 " %7" PRIu64 " %7" PRIu64 " %-17s %-8s %-12s",
           NodeName(row.setup.node_bytes).c_str(), row.setup.duplicates, row.entries_read,
           row.entries_written, ToString(row.setup.form), ToString(row.setup.destination),
           ToString(row.setup.atomicity));
    PrintCost(row);
  }
}

Json ToJson(const Row& row) {
  Json json = {{"experiment", ToString(row.setup.experiment)},
               {"node_bytes", row.setup.node_bytes},
               {"atomicity", ToString(row.setup.atomicity)}};
  if (row.setup.experiment == Experiment::kMoveNode) {
    json["memtable"] = ToString(row.setup.memtable);
    json["fill_ns_per_entry"] = FillNanosPerEntry(row);
  } else {
    json["duplicates_percent"] = row.setup.duplicates;
    json["order"] = ToString(row.setup.form);
    json["destination"] = ToString(row.setup.destination);
  }
  json["entries_read"] = row.entries_read;
  json["entries_written"] = row.entries_written;
  json["median_us"] = Median(row.nanos) / kMicro;
  json["min_us"] = Min(row.nanos) / kMicro;
  json["ns_per_entry"] = NanosPerEntry(row);
  json["bytes_modified"] = row.cost.bytes_modified;
  json["line_bytes"] = row.cost.line_bytes;
  json["block_bytes"] = row.cost.block_bytes;
  json["fences"] = row.cost.fences;
  json["snapshot_bytes"] = row.cost.snapshot_bytes;
  return json;
}

Json ToJson(const Finding& finding) {
  Json by_node = Json::array();
  for (const auto& [bytes, ratio] : finding.by_node)
    by_node.push_back({{"node_bytes", bytes}, {"ratio", ratio}});
  return {{"id", finding.id},
          {"section", finding.section},
          {"claim", finding.claim},
          {"ratio", finding.ratio},
          {"verdict", finding.verdict},
          {"pairs", finding.pairs},
          {"agreeing", finding.agreeing},
          {"median", finding.median},
          {"min", finding.min},
          {"max", finding.max},
          {"by_node", by_node},
          {"reason", finding.reason}};
}

}  // namespace

void PrintHead(const Config& config, const std::string& medium) {
  printf("Medium:       %s\n", medium.c_str());
  printf("Entries:      8 B keys, 16 B values; a node of N bytes is N / %" PRIu64 " of them\n", kRecordBytes);
  printf("Repetitions:  %" PRIu64 ", after one that warms up; seed %" PRIu64
         "; caches %s before each sample\n",
         config.repetitions, config.seed, config.evict_caches ? "evicted" : "not evicted");
  if (config.merge_level) printf("Inputs:       %" PRIu64 " runs for each merge of E7\n", config.inputs);
  printf(
      "Bytes:        of one move or merge, the published word included; what libpmemobj logs is not, but\n"
      "              for the size of its snapshots, in a column of its own\n");
}

void PrintRows(Experiment experiment, const std::vector<Row>& rows) {
  if (experiment == Experiment::kMoveNode) {
    PrintMoveRows(rows);
  } else {
    PrintMergeRows(rows);
  }
  fflush(stdout);
}

void PrintFindings(const std::vector<Finding>& findings) {
  printf("\nThe paper's findings. %s\n", VerdictRules().c_str());
  for (const Finding& finding : findings) {
    if (finding.pairs == 0) continue;
    printf("\n%s (section %s): %s\n  %s: %" PRIu64 " of %" PRIu64
           " pairs agree; %s: median %.2f (%.2f to %.2f)\n  ",
           finding.id.c_str(), finding.section.c_str(), finding.claim.c_str(), finding.verdict.c_str(),
           finding.agreeing, finding.pairs, finding.ratio.c_str(), finding.median, finding.min, finding.max);
    for (const auto& [bytes, ratio] : finding.by_node) printf("%s %.2f  ", NodeName(bytes).c_str(), ratio);
    printf("\n");
    if (!finding.reason.empty()) printf("  Where not: %s.\n", finding.reason.c_str());
  }
}

Status WriteJson(const Config& config, const std::string& medium, const std::vector<Row>& rows,
                 const std::vector<Finding>& findings) {
  Json json = {{"medium", medium},
               {"seed", config.seed},
               {"repetitions", config.repetitions},
               {"inputs", config.inputs},
               {"evict_caches", config.evict_caches},
               {"rows", Json::array()},
               {"findings", Json::array()}};
  for (const Row& row : rows) json["rows"].push_back(ToJson(row));
  for (const Finding& finding : findings) json["findings"].push_back(ToJson(finding));
  std::ofstream file(config.json_file);
  file << json.dump(2) << "\n";
  file.close();
  if (!file) return Status::IOError("cannot write --json file", config.json_file);
  return Status::OK();
}

}  // namespace pmlsm::experiments
