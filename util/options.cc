#include "pmlsm/options.h"

#include <cstring>
#include <initializer_list>

namespace pmlsm {
namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;
constexpr uint64_t kGiB = 1024 * kMiB;
constexpr uint64_t kTiB = 1024 * kGiB;
constexpr size_t kComparatorNameMax = 63;

Status OutOfRange(const char* name, uint64_t value, const std::string& range) {
  return Status::InvalidArgument(std::string(name) + " = " + std::to_string(value), "must be " + range);
}

Status CheckRange(const char* name, int64_t value, uint64_t least, uint64_t most) {
  if (value >= 0 && static_cast<uint64_t>(value) >= least && static_cast<uint64_t>(value) <= most)
    return Status::OK();
  return Status::InvalidArgument(std::string(name) + " = " + std::to_string(value),
                                 "must be " + std::to_string(least) + " to " + std::to_string(most));
}

bool IsPowerOfTwo(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

// An enum may hold any number of its type; the last name bounds it.
template <typename Enum>
Status CheckEnum(const char* name, Enum value, Enum last) {
  if (value <= last) return Status::OK();
  return OutOfRange(name, static_cast<uint64_t>(value), "one of the named values");
}

// "name=value" lines.
class Lines {
 public:
  void Add(const char* name, const std::string& value) {
    text_.append(name).append("=").append(value).append("\n");
  }
  void Add(const char* name, const char* value) { Add(name, std::string(value)); }
  void Add(const char* name, bool value) { Add(name, value ? "true" : "false"); }
  template <typename Number>
  void Add(const char* name, Number value) {
    Add(name, std::to_string(value));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

Status FirstError(std::initializer_list<Status> checks) {
  for (const Status& check : checks) {
    if (!check.ok()) return check;
  }
  return Status::OK();
}

}  // namespace

const char* ToString(FailureAtomicity value) {
  switch (value) {
    case FailureAtomicity::kTransaction:
      return "transaction";
    case FailureAtomicity::kIndividual:
      return "individual";
    case FailureAtomicity::kAtomic:
      return "atomic";
  }
  return "?";
}

const char* ToString(MemTableType value) {
  switch (value) {
    case MemTableType::kSorted:
      return "sorted";
    case MemTableType::kHash:
      return "hash";
  }
  return "?";
}

const char* ToString(MergeOrder value) {
  switch (value) {
    case MergeOrder::k2Way:
      return "2way";
    case MergeOrder::kKWay:
      return "kway";
    case MergeOrder::kAuto:
      return "auto";
  }
  return "?";
}

const char* ToString(MergeDestination value) {
  switch (value) {
    case MergeDestination::kDirect:
      return "direct";
    case MergeDestination::kBuffered:
      return "buffered";
    case MergeDestination::kAuto:
      return "auto";
  }
  return "?";
}

const char* ToString(CompactionStyle value) {
  switch (value) {
    case CompactionStyle::kTiered:
      return "tiered";
    case CompactionStyle::kLeveled:
      return "leveled";
    case CompactionStyle::kLazyLeveled:
      return "lazy_leveled";
  }
  return "?";
}

const char* ToString(WALRecoveryMode value) {
  switch (value) {
    case WALRecoveryMode::kTolerateCorruptedTailRecords:
      return "tolerate_corrupted_tail_records";
    case WALRecoveryMode::kAbsoluteConsistency:
      return "absolute_consistency";
    case WALRecoveryMode::kPointInTimeRecovery:
      return "point_in_time_recovery";
  }
  return "?";
}

Status DBOptions::Validate() const {
  if (max_pmem_bytes != 0 && (max_pmem_bytes < 16 * kMiB || max_pmem_bytes > 64 * kTiB)) {
    return OutOfRange("max_pmem_bytes", max_pmem_bytes, "0, or 16777216 (16 MiB) to 70368744177664 (64 TiB)");
  }
  if (!IsPowerOfTwo(extent_bytes) || extent_bytes < 4 * kKiB || extent_bytes > 64 * kMiB) {
    return OutOfRange("extent_bytes", extent_bytes, "a power of two from 4096 to 67108864");
  }
  if (db_write_buffer_size != 0 && (db_write_buffer_size < 64 * kKiB || db_write_buffer_size > kTiB)) {
    return OutOfRange("db_write_buffer_size", db_write_buffer_size,
                      "0, or 65536 (64 KiB) to 1099511627776 (1 TiB)");
  }
  if (dram_budget_bytes != 0 && (dram_budget_bytes < kMiB || dram_budget_bytes > 64 * kTiB)) {
    return OutOfRange("dram_budget_bytes", dram_budget_bytes,
                      "0, or 1048576 (1 MiB) to 70368744177664 (64 TiB)");
  }
  if (max_total_wal_bytes != 0 && (max_total_wal_bytes < 64 * kKiB || max_total_wal_bytes > 64 * kTiB)) {
    return OutOfRange("max_total_wal_bytes", max_total_wal_bytes,
                      "0, or 65536 (64 KiB) to 70368744177664 (64 TiB)");
  }
  return FirstError({
      CheckEnum("failure_atomicity", failure_atomicity, FailureAtomicity::kAtomic),
      CheckEnum("wal_recovery_mode", wal_recovery_mode, WALRecoveryMode::kPointInTimeRecovery),
      CheckEnum("merge_order", merge_order, MergeOrder::kAuto),
      CheckEnum("merge_destination", merge_destination, MergeDestination::kAuto),
      CheckRange("max_background_jobs", max_background_jobs, 1, 64),
  });
}

Status ColumnFamilyOptions::Validate() const {
  if (comparator == nullptr) return Status::InvalidArgument("comparator = null", "must be a comparator");
  if (strlen(comparator->Name()) == 0 || strlen(comparator->Name()) > kComparatorNameMax) {
    return Status::InvalidArgument(std::string("comparator name \"") + comparator->Name() + "\"",
                                   "must have 1 to 63 bytes");
  }
  return FirstError({
      CheckEnum("memtable", memtable, MemTableType::kHash),
      CheckEnum("compaction_style", compaction_style, CompactionStyle::kLazyLeveled),
      CheckRange("write_buffer_size", write_buffer_size, 16 * kKiB, 4 * kGiB),
      CheckRange("max_write_buffer_number", max_write_buffer_number, 2, 64),
      CheckRange("size_ratio", size_ratio, 2, 32),
      CheckRange("num_levels", num_levels, 1, 16),
      CheckRange("max_size_amplification_percent", max_size_amplification_percent, 10, UINT32_MAX),
      CheckRange("target_table_bytes", target_table_bytes, 16 * kKiB, kGiB),
      CheckRange("node_bytes", node_bytes, 256, 32 * kKiB),
      CheckRange("filter_bits_per_key", filter_bits_per_key, 0, 32),
  });
}

Status Options::Validate() const {
  Status s = DBOptions::Validate();
  return s.ok() ? ColumnFamilyOptions::Validate() : s;
}

std::string DBOptions::ToString() const {
  Lines lines;
  lines.Add("create_if_missing", create_if_missing);
  lines.Add("error_if_exists", error_if_exists);
  lines.Add("create_missing_column_families", create_missing_column_families);
  lines.Add("failure_atomicity", pmlsm::ToString(failure_atomicity));
  lines.Add("wal_recovery_mode", pmlsm::ToString(wal_recovery_mode));
  lines.Add("max_pmem_bytes", max_pmem_bytes);
  lines.Add("pool_file", pool_file);
  lines.Add("extent_bytes", extent_bytes);
  lines.Add("db_write_buffer_size", db_write_buffer_size);
  lines.Add("dram_budget_bytes", dram_budget_bytes);
  lines.Add("max_total_wal_bytes", max_total_wal_bytes);
  lines.Add("max_background_jobs", max_background_jobs);
  lines.Add("merge_order", pmlsm::ToString(merge_order));
  lines.Add("merge_destination", pmlsm::ToString(merge_destination));
  return lines.text();
}

std::string ColumnFamilyOptions::ToString() const {
  Lines lines;
  lines.Add("comparator", comparator == nullptr ? "null" : comparator->Name());
  lines.Add("memtable", pmlsm::ToString(memtable));
  lines.Add("write_buffer_size", write_buffer_size);
  lines.Add("max_write_buffer_number", max_write_buffer_number);
  lines.Add("compaction_style", pmlsm::ToString(compaction_style));
  lines.Add("size_ratio", size_ratio);
  lines.Add("num_levels", num_levels);
  lines.Add("max_size_amplification_percent", max_size_amplification_percent);
  lines.Add("target_table_bytes", target_table_bytes);
  lines.Add("node_bytes", node_bytes);
  lines.Add("filter_bits_per_key", filter_bits_per_key);
  lines.Add("compaction_filter", compaction_filter == nullptr ? "null" : compaction_filter->Name());
  lines.Add("disable_auto_compactions", disable_auto_compactions);
  return lines.text();
}

std::string Options::ToString() const { return DBOptions::ToString() + ColumnFamilyOptions::ToString(); }

}  // namespace pmlsm
