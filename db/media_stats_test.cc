#include "db/media_stats.h"

#include "gtest/gtest.h"

namespace pmlsm {
namespace {

TEST(MediaStatsTest, AmplificationIsLinesByUserBytes) {
  MediaFigures figures;
  figures.user_bytes = 6400;
  figures.log = {7000, 150, 60, 100};
  figures.flush = {6400, 100, 25, 2};
  figures.merge = {3000, 50, 13, 1};
  figures.manifest = {80, 10, 8, 12};
  figures.level_lines = {100, 0, 50};
  figures.run_bytes = 1500;
  figures.largest_run_bytes = 900;
  figures.dropped_share = 0.2;
  EXPECT_EQ(MediaStatsText(figures),
            "User bytes written: 6400\n"
            "Class             Bytes   64 B lines 256 B blocks     Fences  W-Amp\n"
            "log                7000          150           60        100   1.50\n"
            "flush              6400          100           25          2   1.00\n"
            "merge              3000           50           13          1   0.50\n"
            "manifest             80           10            8         12   0.10\n"
            "total             16480          310          106        115   3.10\n"
            "Bytes written into level 0: 6400\n"
            "Bytes written into level 2: 3200\n"
            "Space amplification: 1.25 (1500 bytes of runs, about 1200 live)\n");
}

TEST(MediaStatsTest, ARunAloneIsLive) {
  MediaFigures figures;
  EXPECT_EQ(EstimateLiveBytes(figures), 0u);
  figures.run_bytes = 1000;
  figures.largest_run_bytes = 700;
  EXPECT_EQ(EstimateLiveBytes(figures), 1000u);
  figures.dropped_share = 0.5;
  EXPECT_EQ(EstimateLiveBytes(figures), 700u);
}

}  // namespace
}  // namespace pmlsm
