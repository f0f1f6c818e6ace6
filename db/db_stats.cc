// What flushes, merges and writes did, as text: GetProperty("pmlsm.stats") and "pmlsm.levelstats".
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
std::string DBImpl::LevelStats() {
  std::string text = "Level Files Size(MB)\n--------------------\n";
  for (int level = 0; level < version_->levels(); ++level) {
    uint64_t bytes = 0;
    size_t tables = 0;
    for (const PlacedRun& placed : version_->runs(level)) {
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

void DBImpl::NoteFlushStats(const PlacedRun& flushed, std::chrono::duration<double, std::milli> took,
                            uint64_t cpu_micros) {
  const uint64_t bytes = flushed.run == nullptr ? 0 : flushed.run->bytes();
  compaction_stats_.NoteFlush(bytes, static_cast<uint64_t>(took.count() * 1000), cpu_micros);
}

MergeRecord DBImpl::BeginMergeStats(const MergePick& pick, const JobContext& context) const {
  MergeRecord record;
  record.output_level = pick.output_level;
  record.order = options_.merge_order == MergeOrder::k2Way ? MergeOrder::k2Way : MergeOrder::kKWay;
  record.destination = context.destination;
  record.cpu_micros = ThreadCpuMicros();
  for (int level = 0; level < version_->levels(); ++level) {
    for (const PlacedRun& placed : version_->runs(level)) {
      if (pick.inputs.count(placed.run->number()) == 0) continue;
      (level == pick.output_level ? record.output_bytes_read : record.upper_bytes_read) +=
          placed.run->bytes();
    }
  }
  return record;
}

void DBImpl::EndMergeStats(const MergeStep::Result& total, std::chrono::duration<double, std::milli> took,
                           MergeRecord* record) {
  record->bytes_written = total.bytes_written;
  record->bytes_moved = total.bytes_moved;
  record->entries_in = total.entries_read;
  record->entries_dropped = total.entries_read - total.entries_written;
  record->micros = static_cast<uint64_t>(took.count() * 1000);
  record->cpu_micros = ThreadCpuMicros() - record->cpu_micros;
  compaction_stats_.NoteMerge(*record);
}

std::string DBImpl::Stats() {
  std::string text;
  const uint64_t user_bytes = user_bytes_written_.load(std::memory_order_relaxed);
  PersistCounts all = Read(counters_.log);
  all += Read(counters_.flush);
  all += Read(counters_.merge);
  all += Read(counters_.manifest);
  const ExtentAllocator& extents = *storage_->extents;
  AppendF(&text, "Medium: %s, failure atomicity: %s\n", pmlsm::ToString(storage_->pool->medium()),
          pmlsm::ToString(options_.failure_atomicity));
  AppendF(&text, "Flushes: %" PRIu64 ", merges: %" PRIu64 ", write stall: %.3f s\n", flushes_, merges_,
          static_cast<double>(stall_micros_.load()) / 1e6);
  AppendF(&text,
          "User bytes written: %.1f MB; 64 B lines flushed: %" PRIu64 ", 256 B blocks: %" PRIu64
          ", fences: %" PRIu64 "\n",
          MiB(user_bytes), all.lines_flushed, all.blocks_touched, all.fences);
  AppendF(&text, "Write amplification at the medium: %.2f (64 B lines)\n",
          user_bytes == 0 ? 0.0 : static_cast<double>(all.lines_flushed * kCacheLineBytes) / user_bytes);
  AppendF(&text, "Space: %.1f MB in use, %.1f MB free in the pool\n", MiB(extents.used_bytes()),
          MiB(extents.free_bytes()));
  std::vector<LevelShape> shapes(version_->levels());
  for (int level = 0; level < version_->levels(); ++level) {
    for (const PlacedRun& placed : version_->runs(level)) {
      shapes[level].tables += placed.run->tables().size();
      shapes[level].bytes += placed.run->bytes();
    }
    shapes[level].score = static_cast<double>(version_->runs(level).size()) / options_.size_ratio;
  }
  AppendF(&text, "Entries that merges dropped: %.1f percent\n", 100 * compaction_stats_.DroppedShare());
  text += compaction_stats_.Strategies();
  return compaction_stats_.Table(shapes) + "\n** PMem Stats **\n" + text;
}

}  // namespace pmlsm
