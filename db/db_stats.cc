// What flushes, merges and writes did, as text: GetProperty("pmlsm.stats") and "pmlsm.levelstats".
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <ctime>

#include "db/db_impl.h"

namespace pmlsm {
namespace {

__attribute__((format(printf, 2, 3))) void AppendF(std::string* to, const char* format, ...) {
  char line[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  to->append(line);
}

double MiB(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

// In the layout of RocksDB's property of this name; our tables are its files.
std::string DBImpl::LevelStats(const ColumnFamily& family) {
  std::string text = "Level Files Size(MB)\n--------------------\n";
  for (int level = 0; level < family.version->levels(); ++level) {
    uint64_t bytes = 0;
    size_t tables = 0;
    for (const PlacedRun& placed : family.version->runs(level)) {
      bytes += placed.run->bytes();
      tables += placed.run->tables().size();
    }
    AppendF(&text, "%3d %8zu %8.0f\n", level, tables, MiB(bytes));
  }
  return text;
}

uint64_t DBImpl::ThreadCpuMicros() {
  timespec used = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<uint64_t>(used.tv_sec) * 1000000 + static_cast<uint64_t>(used.tv_nsec) / 1000;
}

void DBImpl::NoteFlushStats(ColumnFamily* family, const PlacedRun& flushed,
                            std::chrono::duration<double, std::milli> took, uint64_t cpu_micros) {
  const uint64_t bytes = flushed.run == nullptr ? 0 : flushed.run->bytes();
  family->compaction_stats.NoteFlush(bytes, static_cast<uint64_t>(took.count() * 1000), cpu_micros);
}

MergeRecord DBImpl::BeginMergeStats(const ColumnFamily& family, const MergePick& pick,
                                    const MergeChoice& choice) {
  MergeRecord record;
  record.output_level = pick.output_level;
  record.order = choice.order;
  record.destination = choice.destination;
  record.cpu_micros = ThreadCpuMicros();
  for (int level = 0; level < family.version->levels(); ++level) {
    for (const PlacedRun& placed : family.version->runs(level)) {
      if (pick.inputs.count(placed.run->number()) == 0) continue;
      (level == pick.output_level ? record.output_bytes_read : record.upper_bytes_read) +=
          placed.run->bytes();
    }
  }
  return record;
}

void DBImpl::EndMergeStats(ColumnFamily* family, const MergeStep::Result& total,
                           std::chrono::duration<double, std::milli> took, MergeRecord* record) {
  record->bytes_written = total.bytes_written;
  record->bytes_moved = total.bytes_moved;
  record->entries_in = total.entries_read;
  record->entries_dropped = total.entries_read - total.entries_written;
  record->micros = static_cast<uint64_t>(took.count() * 1000);
  record->cpu_micros = ThreadCpuMicros() - record->cpu_micros;
  family->compaction_stats.NoteMerge(*record);
}

std::string DBImpl::Stats(ColumnFamily* family) {
  const ExtentAllocator& extents = *storage_->extents;
  std::string pmem = "** PMem Stats **\n";
  AppendF(&pmem, "Medium: %s, failure atomicity: %s\n", pmlsm::ToString(storage_->pool->medium()),
          pmlsm::ToString(options_.failure_atomicity));
  AppendF(&pmem, "Flushes: %" PRIu64 ", merges: %" PRIu64 ", write stall: %.3f s\n", flushes_, merges_,
          static_cast<double>(stall_micros_.load()) / 1e6);
  AppendF(&pmem, "Writers held to: %" PRIu64 " bytes/s (0: not), merge debt: %" PRIu64 " bytes\n",
          pacer_.rate(), family->picker.DebtBytes(*family->version));
  AppendF(&pmem, "Space: %.1f MB in use, %.1f MB free in the pool\n", MiB(extents.used_bytes()),
          MiB(extents.free_bytes()));
  pmem += MediaStatsText(MakeMediaFigures(*family));
  AppendF(&pmem, "Entries that merges dropped: %.1f percent\n",
          100 * family->compaction_stats.DroppedShare());
  pmem += family->compaction_stats.Strategies();
  return family->compaction_stats.Table(LevelShapes(*family)) + "\n" + write_stats_.Text(CountWrites()) +
         "\n" + pmem;
}

std::vector<LevelShape> DBImpl::LevelShapes(const ColumnFamily& family) {
  std::vector<LevelShape> shapes(family.version->levels());
  for (int level = 0; level < family.version->levels(); ++level) {
    for (const PlacedRun& placed : family.version->runs(level)) {
      const size_t tables = placed.run->tables().size();
      shapes[level].tables += tables;
      if (family.picker.IsInput(placed.run->number())) shapes[level].busy_tables += tables;
      shapes[level].bytes += placed.run->bytes();
    }
    shapes[level].score = family.picker.Score(*family.version, level);
  }
  return shapes;
}

WriteCounts DBImpl::CountWrites() const {
  WriteCounts counts;
  counts.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - opened_at_).count();
  counts.writes = writes_.load(std::memory_order_relaxed);
  counts.keys = last_sequence_.load(std::memory_order_relaxed) - sequence_at_open_;
  counts.user_bytes = user_bytes_written_.load(std::memory_order_relaxed);
  counts.wal_writes = counts.writes - writes_without_log_.load(std::memory_order_relaxed);
  const PersistCounts log = Read(counters_.log);
  counts.wal_syncs = log.fences;
  counts.wal_bytes = log.bytes_modified;
  counts.stall_micros = stall_micros_.load(std::memory_order_relaxed);
  return counts;
}

MediaFigures DBImpl::MakeMediaFigures(const ColumnFamily& family) const {
  MediaFigures figures;
  figures.user_bytes = user_bytes_written_.load(std::memory_order_relaxed);
  figures.log = Read(counters_.log);
  figures.flush = Read(counters_.flush);
  figures.merge = counters_.AllMerges();
  figures.manifest = Read(counters_.manifest);
  for (const PersistCounters& merged : counters_.merge_into) {
    figures.level_lines.push_back(Read(merged).lines_flushed);
  }
  figures.level_lines[0] += figures.flush.lines_flushed;
  for (const ColumnFamilyRef& each : families_) {
    uint64_t largest = 0;
    for (const Run* run : each->version->newest_first()) largest = std::max(largest, run->bytes());
    figures.run_bytes += each->version->bytes();
    figures.largest_run_bytes += largest;
  }
  figures.dropped_share = family.compaction_stats.DroppedShare();
  return figures;
}

}  // namespace pmlsm
