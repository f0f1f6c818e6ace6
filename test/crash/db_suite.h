// DbSuite: one life of a DB under power failures, then recovery from images of it, then recovery from images
// of that.
//
// Thread safety: a process with one thread.
#pragma once

#include <string>
#include <vector>

#include "test/crash/db_run.h"

namespace pmlsm::crash {

struct SuiteResult {
  std::vector<Report> reports;
  uint64_t images = 0;
  uint64_t distinct = 0;
  std::string failure;  // "" = none; else what, and how to see it again
};

// `recoveries`: images of the life from which recovery is run. A failing image is kept.
SuiteResult RunDbSuite(const DbRunConfig& config, int recoveries);

// Checks a kept image again. "" = all holds.
std::string ReplayKeptImage(const std::string& kept);

// Images by phase, a line each.
std::string FormatPhases(const std::vector<Report>& reports);

}  // namespace pmlsm::crash
