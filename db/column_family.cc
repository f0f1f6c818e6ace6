#include "db/column_family.h"

#include <algorithm>

namespace pmlsm {

ColumnFamily::ColumnFamily(uint32_t id, const std::string& name, const ColumnFamilyOptions& options,
                           const DerivedSizes& sizes, const MergeChooser::Setting& setting,
                           FamilyReads* reads)
    : id(id),
      name(name),
      options(options),
      sizes(sizes),
      log_prefix(id == 0 ? "" : "[" + name + "] "),
      reads(reads),
      picker(options.compaction_style, options.size_ratio, sizes.write_buffer_bytes),
      merge_chooser(setting),
      compaction_stats(options.num_levels) {}

void ColumnFamily::StartMemTable(uint64_t first_segment) {
  active = std::make_shared<MemTable>(options.memtable, options.comparator, first_segment);
  active_rep = active->rep.get();
}

void ColumnFamily::FreezeMemTable(SequenceNumber last) {
  active->largest_sequence = last;
  frozen.insert(frozen.begin(), active);
}

uint64_t ColumnFamily::OldestSegment() const {
  if (active == nullptr) return 0;
  return frozen.empty() ? active->first_segment : frozen.back()->first_segment;
}

void ColumnFamily::StoreLevels(const Version& of, FamilyState* state) const {
  // So that a manifest with many families stays small, only the default one has free slots in it.
  size_t slots = id == 0 ? SlotsPerLevel(options.size_ratio) : 0;
  for (int level = 0; level < of.levels(); ++level) slots = std::max(slots, of.runs(level).size());
  state->levels.assign(of.levels(), std::vector<uint64_t>(slots, 0));
  for (int level = 0; level < of.levels(); ++level) {
    for (size_t slot = 0; slot < of.runs(level).size(); ++slot) {
      state->levels[level][slot] = of.runs(level)[slot].descriptor.offset;
    }
  }
}

uint64_t ColumnFamily::SlotBytes(size_t level0_runs) const {
  size_t slots = std::max<size_t>(SlotsPerLevel(options.size_ratio), level0_runs);
  for (int level = 0; level < version->levels(); ++level)
    slots = std::max(slots, version->runs(level).size());
  return version->levels() * slots * sizeof(uint64_t);
}

void ColumnFamily::Close() {
  active_rep = nullptr;
  active.reset();
  frozen.clear();
  version.reset();
  if (reads == nullptr) return;
  reads->views.Install(nullptr, {}, nullptr);
  reads->closed = true;
  reads = nullptr;
}

uint64_t ColumnFamily::MemTableEntries() const {
  uint64_t entries = active->rep->entries();
  for (const MemTableRef& memtable : frozen) entries += memtable->rep->entries();
  return entries;
}

uint64_t ColumnFamily::FrozenBytes() const {
  uint64_t bytes = 0;
  for (const MemTableRef& memtable : frozen) bytes += memtable->rep->ApproximateBytes();
  return bytes;
}

}  // namespace pmlsm
