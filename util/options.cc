#include "pmlsm/options.h"

#include <cstring>

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

Status Options::Validate() const {
  if (comparator == nullptr) return Status::InvalidArgument("comparator = null", "must be a comparator");
  if (strlen(comparator->Name()) == 0 || strlen(comparator->Name()) > kComparatorNameMax) {
    return Status::InvalidArgument(std::string("comparator name \"") + comparator->Name() + "\"",
                                   "must have 1 to 63 bytes");
  }
  if (max_pmem_bytes != 0 && (max_pmem_bytes < 16 * kMiB || max_pmem_bytes > 64 * kTiB)) {
    return OutOfRange("max_pmem_bytes", max_pmem_bytes, "0, or 16777216 (16 MiB) to 70368744177664 (64 TiB)");
  }
  if (!IsPowerOfTwo(extent_bytes) || extent_bytes < 4 * kKiB || extent_bytes > 64 * kMiB) {
    return OutOfRange("extent_bytes", extent_bytes, "a power of two from 4096 to 67108864");
  }
  const Status checks[] = {
      CheckEnum("failure_atomicity", failure_atomicity, FailureAtomicity::kAtomic),
      CheckEnum("wal_recovery_mode", wal_recovery_mode, WALRecoveryMode::kPointInTimeRecovery),
      CheckEnum("memtable", memtable, MemTableType::kHash),
      CheckEnum("compaction_style", compaction_style, CompactionStyle::kLazyLeveled),
      CheckEnum("merge_order", merge_order, MergeOrder::kAuto),
      CheckEnum("merge_destination", merge_destination, MergeDestination::kAuto),
      CheckRange("write_buffer_size", write_buffer_size, 16 * kKiB, 4 * kGiB),
      CheckRange("max_write_buffer_number", max_write_buffer_number, 2, 64),
      CheckRange("size_ratio", size_ratio, 2, 32),
      CheckRange("num_levels", num_levels, 1, 16),
      CheckRange("max_size_amplification_percent", max_size_amplification_percent, 10, UINT32_MAX),
      CheckRange("target_table_bytes", target_table_bytes, 16 * kKiB, kGiB),
      CheckRange("node_bytes", node_bytes, 256, 32 * kKiB),
      CheckRange("filter_bits_per_key", filter_bits_per_key, 0, 32),
      CheckRange("max_background_jobs", max_background_jobs, 1, 64),
  };
  for (const Status& check : checks) {
    if (!check.ok()) return check;
  }
  return Status::OK();
}

std::string Options::ToString() const {
  std::string text;
  const auto add = [&text](const char* name, const std::string& value) {
    text.append(name).append("=").append(value).append("\n");
  };
  const auto number = [](uint64_t value) { return std::to_string(value); };
  const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
  add("create_if_missing", flag(create_if_missing));
  add("error_if_exists", flag(error_if_exists));
  add("comparator", comparator == nullptr ? "null" : comparator->Name());
  add("failure_atomicity", pmlsm::ToString(failure_atomicity));
  add("wal_recovery_mode", pmlsm::ToString(wal_recovery_mode));
  add("max_pmem_bytes", number(max_pmem_bytes));
  add("pool_file", pool_file);
  add("extent_bytes", number(extent_bytes));
  add("memtable", pmlsm::ToString(memtable));
  add("write_buffer_size", number(write_buffer_size));
  add("max_write_buffer_number", number(max_write_buffer_number));
  add("compaction_style", pmlsm::ToString(compaction_style));
  add("size_ratio", number(size_ratio));
  add("num_levels", number(num_levels));
  add("max_size_amplification_percent", number(max_size_amplification_percent));
  add("target_table_bytes", number(target_table_bytes));
  add("node_bytes", number(node_bytes));
  add("filter_bits_per_key", number(filter_bits_per_key));
  add("max_background_jobs", number(max_background_jobs));
  add("merge_order", pmlsm::ToString(merge_order));
  add("merge_destination", pmlsm::ToString(merge_destination));
  add("compaction_filter", compaction_filter == nullptr ? "null" : compaction_filter->Name());
  add("disable_auto_compactions", flag(disable_auto_compactions));
  return text;
}

}  // namespace pmlsm
