#include "db/write_stats.h"

#include "gtest/gtest.h"

namespace pmlsm {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// Letter by letter: programs read these lines.
TEST(WriteStatsTest, LayoutIsThatOfRocksDBsStatistics) {
  WriteStats stats;
  EXPECT_EQ(stats.Text({10, 12345, 45678, 2048 * kMiB, 12000, 6000, 3072 * kMiB, 3723045678}),
            "** DB Stats **\n"
            "Uptime(secs): 10.0 total, 10.0 interval\n"
            "Cumulative writes: 12K writes, 45K keys, 12K commit groups, 1.0 writes per commit group, "
            "ingest: 2.00 GB, 204.80 MB/s\n"
            "Cumulative WAL: 12K writes, 6000 syncs, 2.00 writes per sync, written: 3.00 GB, 307.20 MB/s\n"
            "Cumulative stall: 01:02:3.045 H:M:S, 37230.5 percent\n"
            "Interval writes: 12K writes, 45K keys, 12K commit groups, 1.0 writes per commit group, "
            "ingest: 2048.00 MB, 204.80 MB/s\n"
            "Interval WAL: 12K writes, 6000 syncs, 2.00 writes per sync, written: 3.00 GB, 307.20 MB/s\n"
            "Interval stall: 01:02:3.045 H:M:S, 37230.5 percent\n");
}

TEST(WriteStatsTest, AnIntervalIsWhatCameSinceTheLastCall) {
  WriteStats stats;
  const std::string first = stats.Text({});
  EXPECT_NE(first.find("Cumulative writes: 0 writes, 0 keys, 0 commit groups, 0.0 writes per"),
            std::string::npos);
  stats.Text({10, 100, 200, 100 * kMiB, 100, 100, kMiB, 500000});
  const std::string text = stats.Text({14, 107, 209, 108 * kMiB, 105, 102, 2 * kMiB, 1500000});
  EXPECT_NE(text.find("Uptime(secs): 14.0 total, 4.0 interval\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Interval writes: 7 writes, 9 keys, 7 commit groups, 1.0 writes per commit group, "
                      "ingest: 8.00 MB, 2.00 MB/s\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Interval WAL: 5 writes, 2 syncs, 2.50 writes per sync, written: 0.00 GB, 0.25 MB/s\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Interval stall: 00:00:1.000 H:M:S, 25.0 percent\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace pmlsm
