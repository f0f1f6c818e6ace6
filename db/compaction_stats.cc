#include "db/compaction_stats.h"

#include <cinttypes>
#include <cstdio>

#include "db/short_count.h"

namespace pmlsm {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kGiB = 1 << 30;
constexpr double kMicrosASecond = 1e6;

double Ratio(double a, double b) { return b == 0 ? 0 : a / b; }

std::string ShortBytes(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"KB", "MB", "GB", "TB"};
  double size = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; size >= 1024 && unit < 3; ++unit) size /= 1024;
  char text[32];
  snprintf(text, sizeof(text), "%.2f %s", size, kUnits[unit]);
  return text;
}

}  // namespace

void CompactionStats::Work::Add(const Work& other, bool subtract) {
  const auto add = [subtract](uint64_t* to, uint64_t value) { *to = subtract ? *to - value : *to + value; };
  add(&upper_bytes_read, other.upper_bytes_read);
  add(&output_bytes_read, other.output_bytes_read);
  add(&bytes_written, other.bytes_written);
  add(&bytes_moved, other.bytes_moved);
  add(&entries_in, other.entries_in);
  add(&entries_dropped, other.entries_dropped);
  add(&micros, other.micros);
  add(&cpu_micros, other.cpu_micros);
  add(&count, other.count);
}

void CompactionStats::NoteFlush(uint64_t bytes_written, uint64_t micros, uint64_t cpu_micros) {
  Work& level0 = levels_[0];
  level0.bytes_written += bytes_written;
  level0.micros += micros;
  level0.cpu_micros += cpu_micros;
  ++level0.count;
  flushed_bytes_ += bytes_written;
}

void CompactionStats::NoteMerge(const MergeRecord& merge) {
  const size_t level = static_cast<size_t>(merge.output_level);
  if (level >= levels_.size()) levels_.resize(level + 1);
  levels_[level].Add({merge.upper_bytes_read, merge.output_bytes_read, merge.bytes_written, merge.bytes_moved,
                      merge.entries_in, merge.entries_dropped, merge.micros, merge.cpu_micros, 1});
  Strategy& used = strategies_[static_cast<size_t>(merge.order)][static_cast<size_t>(merge.destination)];
  ++used.count;
  used.micros += merge.micros;
  used.entries += merge.entries_in;
}

void CompactionStats::NoteMove(int output_level, uint64_t bytes) {
  const size_t level = static_cast<size_t>(output_level);
  if (level >= levels_.size()) levels_.resize(level + 1);
  levels_[level].bytes_moved += bytes;
}

std::string CompactionStats::Line(const std::string& name, const LevelShape& shape, const Work& work,
                                  uint64_t ingest_bytes) {
  const double read = static_cast<double>(work.upper_bytes_read + work.output_bytes_read);
  const double written = static_cast<double>(work.bytes_written);
  const double seconds = static_cast<double>(work.micros) / kMicrosASecond;
  char line[400];
  snprintf(line, sizeof(line),
           "%4s %6zu/%-3zu %8s %5.1f %8.1f %7.1f %8.1f %9.1f %8.1f %9.1f %5.1f %8.1f %8.1f %9.2f %17.2f "
           "%9" PRIu64 " %8.3f %7s %6s\n",
           name.c_str(), shape.tables, shape.busy_tables, ShortBytes(shape.bytes).c_str(), shape.score,
           read / kGiB, static_cast<double>(work.upper_bytes_read) / kGiB,
           static_cast<double>(work.output_bytes_read) / kGiB, written / kGiB,
           (written - static_cast<double>(work.output_bytes_read)) / kGiB,
           static_cast<double>(work.bytes_moved) / kGiB, Ratio(written, static_cast<double>(ingest_bytes)),
           Ratio(read / kMiB, seconds), Ratio(written / kMiB, seconds), seconds,
           static_cast<double>(work.cpu_micros) / kMicrosASecond, work.count,
           Ratio(seconds, static_cast<double>(work.count)), ShortCount(work.entries_in).c_str(),
           ShortCount(work.entries_dropped).c_str());
  return line;
}

std::string CompactionStats::Table(const std::vector<LevelShape>& shapes) {
  const std::string header =
      "Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) "
      "Wr(MB/s) Comp(sec) CompMergeCPU(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop\n";
  std::string text = "** Compaction Stats [default] **\n" + header + std::string(header.size(), '-') + "\n";
  Work sum;
  LevelShape all;
  if (shapes.size() > levels_.size()) levels_.resize(shapes.size());
  for (size_t level = 0; level < levels_.size(); ++level) {
    const LevelShape shape = level < shapes.size() ? shapes[level] : LevelShape();
    const Work& work = levels_[level];
    sum.Add(work);
    all.tables += shape.tables;
    all.busy_tables += shape.busy_tables;
    all.bytes += shape.bytes;
    if (shape.tables == 0 && work.count == 0) continue;
    text +=
        Line("L" + std::to_string(level), shape, work, level == 0 ? flushed_bytes_ : work.upper_bytes_read);
  }
  text += Line("Sum", all, sum, flushed_bytes_);
  Work interval = sum;
  interval.Add(last_sum_, /*subtract=*/true);
  text += Line("Int", LevelShape(), interval, flushed_bytes_ - last_flushed_bytes_);
  last_sum_ = sum;
  last_flushed_bytes_ = flushed_bytes_;
  return text;
}

std::string CompactionStats::Strategies() const {
  std::string text;
  for (size_t order = 0; order < strategies_.size(); ++order) {
    for (size_t destination = 0; destination < strategies_[order].size(); ++destination) {
      const Strategy& used = strategies_[order][destination];
      if (used.count == 0) continue;
      char line[200];
      snprintf(line, sizeof(line),
               "Merges %s %s: %" PRIu64 ", %.3f s, %" PRIu64 " entries, %.1f ns an entry\n",
               ToString(static_cast<MergeOrder>(order)), ToString(static_cast<MergeDestination>(destination)),
               used.count, static_cast<double>(used.micros) / kMicrosASecond, used.entries,
               Ratio(static_cast<double>(used.micros) * 1000, static_cast<double>(used.entries)));
      text += line;
    }
  }
  return text;
}

double CompactionStats::DroppedShare() const {
  Work sum;
  for (const Work& work : levels_) sum.Add(work);
  return Ratio(static_cast<double>(sum.entries_dropped), static_cast<double>(sum.entries_in));
}

}  // namespace pmlsm
