#include "compaction/run_cut.h"

#include <algorithm>
#include <array>
#include <utility>

#include "util/check.h"

namespace pmlsm {
namespace {

// Places of the parts, in key order.
constexpr size_t kBelow = 0;
constexpr size_t kInside = 1;
constexpr size_t kAbove = 2;
using Parts = std::array<std::vector<TableRef>, 3>;

size_t PartOf(const Comparator* comparator, const KeyBounds& bounds, const Slice& key) {
  if (bounds.begin && comparator->Compare(key, *bounds.begin) < 0) return kBelow;
  return bounds.end && comparator->Compare(key, *bounds.end) > 0 ? kAbove : kInside;
}

// Step 1 for a table that reaches over a bound.
Status CopyTable(const RunCut& cut, const TableRef& table, const JobContext& context,
                 PersistCounters* counters, MergeStep::Result* result, Parts* parts) {
  constexpr uint64_t kEntriesBetweenCancelChecks = 1024;
  const Comparator* const comparator = context.table_options.comparator;
  const Run& whole = *cut.run.run;
  const Run run(comparator, whole.number(), {table}, whole.has_live_lower(), whole.live_lower());
  const auto entries = run.NewIterator(context.verify_checksums);
  entries->SeekToFirst();
  for (size_t part = kBelow; part <= kAbove; ++part) {
    RunWriter writer(context, counters);
    for (; entries->valid(); entries->Next()) {
      if (PartOf(comparator, cut.bounds, entries->entry().key) != part) break;
      if (++result->entries_read % kEntriesBetweenCancelChecks == 0 && context.cancelled()) {
        return Status::ShutdownInProgress("merge cancelled");
      }
      Status s = writer.Add(entries->entry());
      if (!s.ok()) return s;
      ++result->entries_written;
    }
    std::vector<TableRef> tables;
    Status s = entries->status();
    if (s.ok()) s = writer.Finish(&tables);
    if (!s.ok()) return s;
    for (const TableRef& copy : tables) result->bytes_written += copy->table().span().bytes;
    result->written.insert(result->written.end(), tables.begin(), tables.end());
    (*parts)[part].insert((*parts)[part].end(), tables.begin(), tables.end());
  }
  return Status::OK();
}

}  // namespace

bool KeyBounds::Overlap(const Run& run) const {
  const Slice first = begin ? Slice(*begin) : Slice();
  const Slice last = end ? Slice(*end) : Slice();
  return run.Overlaps(begin ? &first : nullptr, end ? &last : nullptr);
}

bool KeyBounds::Cover(const Comparator* comparator, const Run& run) const {
  return PartOf(comparator, *this, run.smallest()) == kInside &&
         PartOf(comparator, *this, run.largest()) == kInside;
}

Status RunCut::Execute(const JobContext& context, PersistCounters* counters,
                       MergeStep::Result* result) const {
  const Comparator* const comparator = context.table_options.comparator;
  Parts parts;
  Status s;
  for (const TableRef& table : run.run->tables()) {
    const size_t first = PartOf(comparator, bounds, table->table().smallest());
    if (first == PartOf(comparator, bounds, table->table().largest())) {
      parts[first].push_back(table);
    } else {
      s = CopyTable(*this, table, context, counters, result, &parts);  // 1
    }
    if (!s.ok()) break;
  }
  const uint64_t numbers[] = {below_number, inside_number, above_number};
  bool is_lowest = true;  // the part that dead keys of the run's first table are in
  for (size_t part = kBelow; s.ok() && part <= kAbove; ++part) {
    if (parts[part].empty()) continue;
    // Copies hold no dead keys, but a table that was taken over may.
    const bool has_live_lower = is_lowest && run.run->has_live_lower();
    is_lowest = false;
    PlacedRun placed{std::make_shared<const Run>(comparator, numbers[part], std::move(parts[part]),
                                                 has_live_lower, has_live_lower ? run.run->live_lower() : ""),
                     {}};
    s = WriteDescriptor(context, *placed.run, counters, &placed.descriptor);  // 2
    if (!s.ok()) break;
    result->new_descriptors.push_back(placed.descriptor);
    result->edit.added.push_back({level, std::move(placed)});
  }
  result->edit.removed.insert(run.run->number());
  if (!s.ok()) {
    for (const Span& descriptor : result->new_descriptors) context.extents->Free(descriptor);
    for (const TableRef& table : result->written) table->MarkObsolete();
  }
  return s;
}

std::shared_ptr<const Run> JoinRuns(const Comparator* comparator, uint64_t number,
                                    const std::vector<std::shared_ptr<const Run>>& runs) {
  CHECK(!runs.empty());
  std::vector<std::pair<TableRef, const Run*>> tables;
  for (const auto& run : runs) {
    for (const TableRef& table : run->tables()) tables.push_back({table, run.get()});
  }
  std::stable_sort(tables.begin(), tables.end(), [&](const auto& a, const auto& b) {
    return comparator->Compare(a.first->table().smallest(), b.first->table().smallest()) < 0;
  });
  for (size_t i = 0; i + 1 < tables.size(); ++i) {
    const bool same_run = tables[i].second == tables[i + 1].second;
    if (!same_run && comparator->Compare(tables[i].first->table().largest(),
                                         tables[i + 1].first->table().smallest()) >= 0) {
      return nullptr;
    }
  }
  const Run& lowest = *tables.front().second;
  for (const auto& run : runs) {
    if (run.get() != &lowest && run->has_live_lower()) return nullptr;
  }
  std::vector<TableRef> joined;
  for (auto& [table, run] : tables) joined.push_back(std::move(table));
  return std::make_shared<const Run>(comparator, number, std::move(joined), lowest.has_live_lower(),
                                     lowest.live_lower());
}

}  // namespace pmlsm
