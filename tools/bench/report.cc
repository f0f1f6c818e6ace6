#include "tools/bench/report.h"

#include <cassert>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <thread>

namespace pmlsm::bench {
namespace {

constexpr double kMiB = 1048576.0;

// The text after ": " of the first line of /proc/cpuinfo that starts with `name`.
std::string CpuInfo(const char* name) {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind(name, 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string Now() {
  const time_t now = time(nullptr);
  char text[64];
  strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", localtime(&now));
  return text;
}

void PrintField(const std::string& name, const std::string& text) {
  printf("%-18s %s\n", (name + ":").c_str(), text.c_str());
}

void WarnIfSlowBuild() {
  bool assertions_are_on = false;
  assert(assertions_are_on = true);
  if (assertions_are_on)
    printf("WARNING: Assertions are enabled; benchmarks unnecessarily slow (build with --config=opt)\n");
}

std::string FillOrder(const Config& config) {
  if (config.random_with_replacement)
    return "fillrandom draws keys of [0, num) with replacement, as db_bench does";
  return "fillrandom writes each key once, in a seeded order (db_bench's: --random_with_replacement)";
}

std::string ReadOrder(const Config& config) {
  if (config.random_with_replacement)
    return "readrandom draws from [0, num), written or not, as db_bench does";
  return "readrandom draws from the keys that the last fill wrote, or from [0, num) if there was none";
}

std::string Message(const Workload& workload, const Outcome& o) {
  char text[160] = "";
  switch (workload.summary) {
    case Workload::Summary::kNone:
      break;
    case Workload::Summary::kFound:
      snprintf(text, sizeof(text), " (%" PRIu64 " of %" PRIu64 " found)", o.found, o.reads);
      break;
    case Workload::Summary::kReadsAndWrites:
      snprintf(text, sizeof(text),
               " ( reads:%" PRIu64 " writes:%" PRIu64 " total:%" PRIu64 " found:%" PRIu64 ")", o.reads,
               o.writes, o.reads + o.writes, o.found);
      break;
    case Workload::Summary::kUpdates:
      snprintf(text, sizeof(text), " ( updates:%" PRIu64 " found:%" PRIu64 ")", o.writes, o.found);
      break;
  }
  return text;
}

void PrintLongest(const Outcome& o) {
  constexpr double kMilli = 1e6;
  printf("  longest write %.3f ms, P99.9 %.3f ms", static_cast<double>(o.histogram.max()) / kMilli,
         o.histogram.Percentile(99.9) / kMilli);
  if (o.floor_nanos != 0) {
    printf("; %.3f ms above appendfloor's longest", static_cast<double>(o.NanosAboveFloor()) / kMilli);
  }
  printf("\n");
}

void PrintPmemRow(const std::string& name, const PmemCounts& counts, double operations) {
  printf("  %-12s %12.1f %12.2f %12.2f %12.3f\n", name.c_str(),
         static_cast<double>(counts.bytes) / operations, static_cast<double>(counts.lines) / operations,
         static_cast<double>(counts.blocks) / operations, static_cast<double>(counts.fences) / operations);
}

void PrintPmemCounts(const Outcome& o) {
  const PmemCounts sum = Sum(o.pmem);
  // Where a writer runs beside the readers, the stores are its own.
  const uint64_t count = o.writer_operations > 0 ? o.writer_operations : o.operations;
  const double operations = static_cast<double>(count == 0 ? 1 : count);
  if (sum.bytes == 0 && sum.lines == 0 && sum.fences == 0) return;
  printf("  %-12s %12s %12s %12s %12s\n", o.writer_operations > 0 ? "PMem/write" : "PMem/op", "bytes",
         "64 B lines", "256 B blocks", "fences");
  for (const auto& [name, counts] : o.pmem) {
    if (name != "total" && (counts.bytes != 0 || counts.fences != 0)) PrintPmemRow(name, counts, operations);
  }
  PrintPmemRow("total", sum, operations);
}

}  // namespace

void PrintHeader(const Config& config, Engine* engine) {
  const double raw_mib =
      static_cast<double>(config.key_bytes + config.value_bytes) * static_cast<double>(config.num) / kMiB;
  char raw[64];
  snprintf(raw, sizeof(raw), "%.1f MB (estimated)", raw_mib);

  PrintField("Engine", config.engine);
  PrintField("Date", Now());
  PrintField("CPU", std::to_string(std::thread::hardware_concurrency()) + " * " + CpuInfo("model name"));
  PrintField("CPUCache", CpuInfo("cache size"));
  PrintField("Keys", std::to_string(config.key_bytes) + " bytes each");
  PrintField("Values", std::to_string(config.value_bytes) + " bytes each");
  PrintField("Entries", std::to_string(config.num));
  PrintField("RawSize", raw);
  PrintField("Fill order", FillOrder(config));
  PrintField("Read order", ReadOrder(config));
  PrintField("Seed", std::to_string(config.seed));
  PrintField("Threads", std::to_string(config.threads));
  PrintField("Latency",
             config.MeasuresLatency()
                 ? std::string("each operation, by ") +
                       (TickClock::UsesCounter() ? "the CPU's time-stamp counter" : "clock_gettime")
                 : "not measured (--histogram or --json do)");
  for (const auto& [name, text] : engine->Describe()) PrintField(name, text);
  PrintField("DB path", "[" + config.engine_options.path + "]");
  WarnIfSlowBuild();
  printf("------------------------------------------------\n");
  fflush(stdout);
}

void PrintOutcome(const Config& config, const Workload& workload, const Outcome& o) {
  const double operations = static_cast<double>(o.operations == 0 ? 1 : o.operations);
  char rate[32] = "";
  if (o.bytes > 0)
    snprintf(rate, sizeof(rate), " %6.1f MB/s", static_cast<double>(o.bytes) / kMiB / o.seconds);
  printf("%-12s : %11.3f micros/op %ld ops/sec %.3f seconds %" PRIu64 " operations;%s%s", o.benchmark.c_str(),
         o.thread_seconds * 1e6 / operations, static_cast<long>(o.OpsPerSecond()), o.seconds, o.operations,
         rate, Message(workload, o).c_str());
  if (workload.kind == Workload::Kind::kThreadsAndWriter)
    printf(" beside %.0f writes/sec", o.writer_ops_per_second);
  printf("\n");
  if (workload.IsWrite() && o.histogram.count() > 0) PrintLongest(o);
  if (o.has_pmem_counts) PrintPmemCounts(o);
  if (config.histogram && o.histogram.count() > 0)
    printf("Microseconds per %s:\n%s\n", workload.operation, o.histogram.ToString().c_str());
  fflush(stdout);
}

void PrintSkipped(const std::string& benchmark) {
  printf("%-12s : skipped (--use_existing_db is true)\n", benchmark.c_str());
}

}  // namespace pmlsm::bench
