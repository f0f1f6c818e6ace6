#include "db/write_stats.h"

#include <cinttypes>
#include <cstdio>

#include "db/short_count.h"

namespace pmlsm {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kGiB = 1 << 30;

double Ratio(double a, double b) { return b == 0 ? 0 : a / b; }

// H:M:S.
std::string ClockText(uint64_t micros) {
  const uint64_t millis = micros / 1000;
  const uint64_t seconds = millis / 1000;
  char text[48];
  snprintf(text, sizeof(text), "%02" PRIu64 ":%02" PRIu64 ":%" PRIu64 ".%03" PRIu64, seconds / 3600,
           seconds / 60 % 60, seconds % 60, millis % 1000);
  return text;
}

// The ingest of an interval is told in MB, all else in GB.
std::string Lines(const char* name, const WriteCounts& counts, double ingest_unit, const char* unit_name) {
  const double user_bytes = static_cast<double>(counts.user_bytes);
  const double wal_bytes = static_cast<double>(counts.wal_bytes);
  char text[600];
  snprintf(text, sizeof(text),
           "%s writes: %s writes, %s keys, %s commit groups, %.1f writes per commit group, "
           "ingest: %.2f %s, %.2f MB/s\n"
           "%s WAL: %s writes, %s syncs, %.2f writes per sync, written: %.2f GB, %.2f MB/s\n"
           "%s stall: %s H:M:S, %.1f percent\n",
           name, ShortCount(counts.writes).c_str(), ShortCount(counts.keys).c_str(),
           ShortCount(counts.writes).c_str(), counts.writes == 0 ? 0.0 : 1.0, user_bytes / ingest_unit,
           unit_name, Ratio(user_bytes / kMiB, counts.seconds), name, ShortCount(counts.wal_writes).c_str(),
           ShortCount(counts.wal_syncs).c_str(),
           Ratio(static_cast<double>(counts.wal_writes), static_cast<double>(counts.wal_syncs)),
           wal_bytes / kGiB, Ratio(wal_bytes / kMiB, counts.seconds), name,
           ClockText(counts.stall_micros).c_str(),
           Ratio(static_cast<double>(counts.stall_micros) / 1e4, counts.seconds));
  return text;
}

}  // namespace

WriteCounts WriteCounts::operator-(const WriteCounts& other) const {
  return {seconds - other.seconds,
          writes - other.writes,
          keys - other.keys,
          user_bytes - other.user_bytes,
          wal_writes - other.wal_writes,
          wal_syncs - other.wal_syncs,
          wal_bytes - other.wal_bytes,
          stall_micros - other.stall_micros};
}

std::string WriteStats::Text(const WriteCounts& now) {
  const WriteCounts interval = now - last_;
  last_ = now;
  char uptime[80];
  snprintf(uptime, sizeof(uptime), "Uptime(secs): %.1f total, %.1f interval\n", now.seconds,
           interval.seconds);
  return std::string("** DB Stats **\n") + uptime + Lines("Cumulative", now, kGiB, "GB") +
         Lines("Interval", interval, kMiB, "MB");
}

}  // namespace pmlsm
