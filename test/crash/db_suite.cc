#include "test/crash/db_suite.h"

#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "test/crash/db_check.h"
#include "test/crash/forked_run.h"
#include "util/check.h"

namespace pmlsm::crash {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kRunSecondsMax = 1500;
constexpr char kKeptConfig[] = "/config";
constexpr int kRecoveryDepth = 2;

std::string ReadText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void AddReport(const DbRunConfig& config, const Report& report, ScratchDirectory* scratch,
               SuiteResult* result) {
  result->reports.push_back(report);
  for (int i = 0; i < report.phases; ++i) result->images += report.phase[i].images;
  for (int i = 0; i < report.phases; ++i) result->distinct += report.phase[i].distinct;
  CHECK(report.strangers == 0);  // or the simulator would not see all
  if (report.failures == 0 || !result->failure.empty()) return;
  result->failure = std::string(report.first_failure) + "\n  run: " + config.ToString();
  if (report.first_failure_image[0] == '\0') return;
  scratch->Keep();
  const std::string kept = report.first_failure_image;
  std::ofstream(kept + kKeptConfig) << config.ToString();
  // What is left of the run is of no use, and large.
  for (const auto& entry : fs::directory_iterator(scratch->path())) {
    if (entry.path() != kept) fs::remove_all(entry.path());
  }
  result->failure += "\n  replay: scripts/crash_soak --replay=" + kept;
}

// Recovers from the image kept in `kept`, interrupted, then from an image of that.
void RunRecoveries(const DbRunConfig& config, const std::string& kept, int depth, SuiteResult* result) {
  if (depth == 0 || !result->failure.empty()) return;
  ScratchDirectory scratch;
  Plan plan;
  plan.scratch = scratch.path();
  plan.start = kept + kKeptImageDirectory;
  plan.captures = 1;
  const Report report =
      RunForked(kRunSecondsMax, [&](Report* shared) { return RunDbRecovery(config, plan, kept, shared); });
  AddReport(config, report, &scratch, result);
  if (report.captured != 0) RunRecoveries(config, plan.CaptureDirectory(0), depth - 1, result);
}

}  // namespace

SuiteResult RunDbSuite(const DbRunConfig& config, int recoveries) {
  SuiteResult result;
  ScratchDirectory scratch;
  Plan plan;
  plan.scratch = scratch.path();
  plan.captures = recoveries;
  const Report report =
      RunForked(kRunSecondsMax, [&](Report* shared) { return RunDbLife(config, plan, shared); });
  AddReport(config, report, &scratch, &result);
  for (int i = 0; i < report.captured; ++i) {
    RunRecoveries(config, plan.CaptureDirectory(i), kRecoveryDepth, &result);
  }
  return result;
}

std::string ReplayKeptImage(const std::string& kept) {
  DbRunConfig config;
  config.Parse(ReadText(kept + kKeptConfig));
  const std::string before = ReadText(kept + kKeptOracleBefore);
  const std::string after = ReadText(kept + kKeptOracleAfter);
  if (before.size() != sizeof(DbOracle) || after.size() != sizeof(DbOracle)) return kept + " holds no image";
  const ScratchDirectory scratch;
  std::string wrong;
  // The more costly checks are made only now and then: so more than once.
  DbCheck check(config);
  for (int i = 0; i < 24 && wrong.empty(); ++i) {
    const std::string copy = scratch.path() + "/image" + std::to_string(i);
    fs::copy(kept + kKeptImageDirectory, copy, fs::copy_options::recursive);
    wrong = check.Check(copy, *reinterpret_cast<const DbOracle*>(before.data()),
                        *reinterpret_cast<const DbOracle*>(after.data()));
    fs::remove_all(copy);
  }
  return wrong;
}

std::string FormatPhases(const std::vector<Report>& reports) {
  struct Sum {
    uint64_t fences = 0, points = 0, images = 0, distinct = 0;
    double seconds = 0;
  };
  std::map<std::string, Sum> sums;
  for (const Report& report : reports) {
    for (int i = 0; i < report.phases; ++i) {
      Sum& sum = sums[report.phase[i].name];
      sum.fences += report.phase[i].fences;
      sum.points += report.phase[i].points;
      sum.images += report.phase[i].images;
      sum.distinct += report.phase[i].distinct;
      sum.seconds += report.phase[i].seconds;
    }
  }
  std::string text;
  for (const auto& [name, sum] : sums) {
    if (sum.points == 0) continue;
    char line[128];
    snprintf(line, sizeof(line),
             "  %-16s %7" PRIu64 " fences %6" PRIu64 " power failures %7" PRIu64 " images %7" PRIu64
             " distinct %6.1f s\n",
             name.c_str(), sum.fences, sum.points, sum.images, sum.distinct, sum.seconds);
    text += line;
  }
  return text;
}

}  // namespace pmlsm::crash
