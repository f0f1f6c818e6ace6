// GetProperty and GetIntProperty. The names are listed in doc/ARCHITECTURE.md, "Properties".
#include "db/db_impl.h"
#include "util/coding.h"

namespace pmlsm {
namespace {

constexpr char kRunsAtLevel[] = "pmlsm.num-runs-at-level";

}  // namespace

std::string DBImpl::PmemCounters() const {
  std::string text;
  const auto add = [&text](const char* name, const PersistCounts& counts) {
    text += name;
    for (const uint64_t count :
         {counts.bytes_modified, counts.lines_flushed, counts.blocks_touched, counts.fences}) {
      text += " " + std::to_string(count);
    }
    text += "\n";
  };
  add("log", Read(counters_.log));
  add("flush", Read(counters_.flush));
  add("merge", counters_.AllMerges());
  add("manifest", Read(counters_.manifest));
  return text;
}

// Reads all tables under the lock: for tests and for the suspicious.
Status DBImpl::CheckStructures() const {
  storage_->extents->Check();
  Status s;
  for (const ColumnFamilyRef& family : families_) {
    if (s.ok()) s = family->version->Check();
  }
  return s;
}

bool DBImpl::GetProperty(const Slice& property, std::string* value) {
  return PropertyOf(default_family_, property.ToString(), value);
}

bool DBImpl::GetProperty(ColumnFamilyHandle* handle, const Slice& property, std::string* value) {
  ColumnFamily* family = nullptr;
  return FamilyOf(handle, &family).ok() && PropertyOf(family, property.ToString(), value);
}

bool DBImpl::PropertyOf(ColumnFamily* family, const std::string& name, std::string* value) {
  MutexLock lock(&mutex_);
  if (closed_) return false;
  if (name == "pmlsm.stats") {
    *value = Stats(family);
  } else if (name == "pmlsm.levelstats") {
    *value = LevelStats(*family);
  } else if (name == "pmlsm.options") {
    *value = OptionsText(*family);
  } else if (name == "pmlsm.medium") {
    *value = pmlsm::ToString(storage_->pool->medium());
  } else if (name == "pmlsm.pmem-counters") {
    *value = PmemCounters();
  } else if (name == "pmlsm.merge-choices") {
    *value = family->merge_chooser.ToString();
  } else if (name == "pmlsm.check") {
    *value = CheckStructures().ToString();
  } else if (name == "pmlsm.background-error") {
    *value = background_error_.ToString();
  } else {
    uint64_t number = 0;
    if (!FamilyIntProperty(*family, name, &number) && !IntProperty(name, &number)) return false;
    *value = std::to_string(number);
  }
  return true;
}

bool DBImpl::GetIntProperty(const Slice& property, uint64_t* value) {
  return IntPropertyOf(*default_family_, property.ToString(), value);
}

bool DBImpl::GetIntProperty(ColumnFamilyHandle* handle, const Slice& property, uint64_t* value) {
  ColumnFamily* family = nullptr;
  return FamilyOf(handle, &family).ok() && IntPropertyOf(*family, property.ToString(), value);
}

bool DBImpl::IntPropertyOf(const ColumnFamily& family, const std::string& name, uint64_t* value) {
  MutexLock lock(&mutex_);
  return !closed_ && (FamilyIntProperty(family, name, value) || IntProperty(name, value));
}

bool DBImpl::GetAggregatedIntProperty(const Slice& property, uint64_t* value) {
  const std::string name = property.ToString();
  MutexLock lock(&mutex_);
  if (closed_) return false;
  uint64_t sum = 0;
  for (const ColumnFamilyRef& family : families_) {
    uint64_t own = 0;
    if (!FamilyIntProperty(*family, name, &own)) return false;
    sum += own;
  }
  *value = sum;
  return true;
}

// What each family has of its own.
bool DBImpl::FamilyIntProperty(const ColumnFamily& family, const std::string& name, uint64_t* value) {
  if (name == "pmlsm.estimate-num-keys") {
    *value = family.version->entries() + family.MemTableEntries();
  } else if (name == "pmlsm.num-immutable-mem-table") {
    *value = family.frozen.size();
  } else if (name == "pmlsm.num-entries-active-mem-table") {
    *value = family.active->rep->entries();
  } else if (name == "pmlsm.cur-size-active-mem-table") {
    *value = family.active->rep->ApproximateBytes();
  } else if (name == "pmlsm.cur-size-all-mem-tables") {
    *value = family.active->rep->ApproximateBytes() + family.FrozenBytes();
  } else if (name == "pmlsm.compaction-pending") {
    *value = family.picker.Pick(*family.version) ? 1 : 0;
  } else if (name == "pmlsm.entries-skipped-by-scans") {
    *value = family.reads->scans.skipped();
  } else if (name == "pmlsm.total-run-bytes") {
    *value = family.version->bytes();
  } else if (name == "pmlsm.estimate-pending-compaction-bytes") {
    *value = family.picker.DebtBytes(*family.version);
  } else if (Slice(name).starts_with(kRunsAtLevel)) {
    const std::string level = name.substr(sizeof(kRunsAtLevel) - 1);
    if (level.empty() || level.size() > 2 || level.find_first_not_of("0123456789") != std::string::npos)
      return false;
    if (std::stoi(level) >= family.version->levels()) return false;
    *value = family.version->runs(std::stoi(level)).size();
  } else {
    return false;
  }
  return true;
}

// What the DB has one of.
bool DBImpl::IntProperty(const std::string& name, uint64_t* value) {
  if (name == "pmlsm.num-column-families") {
    *value = families_.size();
  } else if (name == "pmlsm.log-bytes") {
    *value = 0;
    for (const SegmentRecord& segment : state_.segments) *value += segment.bytes;
  } else if (name == "pmlsm.num-snapshots") {
    *value = snapshots_.size();
  } else if (name == "pmlsm.num-running-flushes") {
    *value = flush_running_ ? 1 : 0;
  } else if (name == "pmlsm.num-running-compactions") {
    *value = static_cast<uint64_t>(merges_running_);
  } else if (name == "pmlsm.is-write-stopped") {
    *value = write_blocked_.load(std::memory_order_relaxed) ? 1 : 0;
  } else if (name == "pmlsm.pmem-used-bytes") {
    *value = storage_->extents->used_bytes();
  } else if (name == "pmlsm.pmem-free-bytes") {
    *value = storage_->extents->free_bytes();
  } else if (name == "pmlsm.routing-bytes") {
    *value = storage_->routing.used();
  } else if (name == "pmlsm.actual-delayed-write-rate") {
    *value = pacer_.rate();
  } else if (name == "pmlsm.write-stall-micros") {
    *value = stall_micros_.load(std::memory_order_relaxed);
  } else {
    return false;
  }
  return true;
}

}  // namespace pmlsm
