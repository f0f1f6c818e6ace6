#include "db/media_stats.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace pmlsm {
namespace {

double Ratio(uint64_t a, uint64_t b) { return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b); }

std::string ClassLine(const char* name, const PersistCounts& counts, uint64_t user_bytes) {
  char line[160];
  snprintf(line, sizeof(line), "%-8s %14" PRIu64 " %12" PRIu64 " %12" PRIu64 " %10" PRIu64 " %6.2f\n", name,
           counts.bytes_modified, counts.lines_flushed, counts.blocks_touched, counts.fences,
           Ratio(counts.lines_flushed * kCacheLineBytes, user_bytes));
  return line;
}

}  // namespace

uint64_t EstimateLiveBytes(const MediaFigures& figures) {
  const double kept = static_cast<double>(figures.run_bytes) * (1 - figures.dropped_share);
  return std::max(static_cast<uint64_t>(kept), figures.largest_run_bytes);
}

std::string MediaStatsText(const MediaFigures& figures) {
  PersistCounts total = figures.log;
  total += figures.flush;
  total += figures.merge;
  total += figures.manifest;
  char line[200];
  snprintf(line, sizeof(line), "User bytes written: %" PRIu64 "\n", figures.user_bytes);
  std::string text = line;
  text += "Class             Bytes   64 B lines 256 B blocks     Fences  W-Amp\n";
  text += ClassLine("log", figures.log, figures.user_bytes);
  text += ClassLine("flush", figures.flush, figures.user_bytes);
  text += ClassLine("merge", figures.merge, figures.user_bytes);
  text += ClassLine("manifest", figures.manifest, figures.user_bytes);
  text += ClassLine("total", total, figures.user_bytes);
  for (size_t level = 0; level < figures.level_lines.size(); ++level) {
    if (figures.level_lines[level] == 0) continue;
    snprintf(line, sizeof(line), "Bytes written into level %zu: %" PRIu64 "\n", level,
             figures.level_lines[level] * kCacheLineBytes);
    text += line;
  }
  const uint64_t live = EstimateLiveBytes(figures);
  snprintf(line, sizeof(line),
           "Space amplification: %.2f (%" PRIu64 " bytes of runs, about %" PRIu64 " live)\n",
           Ratio(figures.run_bytes, live), figures.run_bytes, live);
  return text + line;
}

}  // namespace pmlsm
