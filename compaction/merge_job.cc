#include "compaction/merge_job.h"

#include <string>
#include <utility>

#include "compaction/merge_plan.h"
#include "compaction/merged_stream.h"
#include "compaction/survivors.h"
#include "levels/run_format.h"

namespace pmlsm {
namespace {

// Large values: a step looks whether it is cancelled after so many bytes, too.
constexpr uint64_t kBytesBetweenCancelChecks = 4 << 20;

// Where a step ended: at the end of the inputs, or before the user key `key`.
struct Cut {
  bool at_end = true;
  std::string key;
};

std::unique_ptr<InternalIterator> OpenInputs(const MergeStep& step, const MergePiece& piece,
                                             const JobContext& context) {
  Sources sources;
  for (const auto& input : piece.inputs) sources.push_back(input->NewIterator(context.verify_checksums));
  return NewMergedStream(step.order, context.table_options.comparator, std::move(sources));
}

// Whether runs that are older than all inputs may hold a key of [smallest, largest].
bool HeldBelow(const MergeStep& step, const Slice& smallest, const Slice& largest) {
  for (const auto& run : step.older) {
    if (run->Overlaps(&smallest, &largest)) return true;
  }
  return false;
}

const CompactionFilter* Filter(const MergeStep& step, const JobContext& context) {
  return step.filters ? context.compaction_filter : nullptr;
}

std::vector<MergePiece> PlanStep(const MergeStep& step, const JobContext& context) {
  std::vector<std::shared_ptr<const Run>> inputs;
  for (const auto& input : step.inputs) inputs.push_back(input.run.run);
  // A filter is to see every value.
  if (!step.takes_over_tables || Filter(step, context) != nullptr) return {{nullptr, std::move(inputs)}};
  // A run of smaller tables would have more of them than its descriptor and the reads like.
  constexpr uint64_t kLeastShare = 2;
  MergePlanRules rules;
  rules.comparator = context.table_options.comparator;
  rules.table_bytes_min = context.table_bytes / kLeastShare;
  rules.keeps_tombstones = [&](const Table& table) {
    return HeldBelow(step, table.smallest(), table.largest());
  };
  return PlanMerge(rules, inputs);
}

// Writes the tables of one piece.
Status WritePiece(const MergeStep& step, const MergePiece& piece, const JobContext& context,
                  RunWriter* writer, MergeStep::Result* result, Cut* cut) {
  SurvivorRules rules;
  rules.comparator = context.table_options.comparator;
  rules.snapshots = step.snapshots;
  rules.held_below = [&](const Slice& key) { return HeldBelow(step, key, key); };
  rules.merge_operator = context.merge_operator;
  rules.filter = Filter(step, context);
  rules.filter_level = step.output_level;
  rules.cancelled = context.cancelled;
  Survivors survivors(std::move(rules), OpenInputs(step, piece, context));
  uint64_t unchecked_bytes = 0;  // since the last look
  for (survivors.SeekToFirst(); survivors.valid(); survivors.Next()) {
    const Entry& entry = survivors.entry();
    // Whether all versions of some keys, and none of this one, have been dealt with.
    const bool may_end =
        survivors.first_of_key() && result->entries_read + survivors.entries_before_key() != 0;
    bool ends = may_end && writer->bytes() >= step.step_bytes;
    if (!ends) {
      Status s = writer->Add(entry);
      // A smaller step: what it makes needless may give the next one room.
      ends = s.IsNoSpace() && may_end && writer->whole();
      if (!s.ok() && !ends) return s;
    }
    if (ends) {
      *cut = {false, entry.key.ToString()};
      result->entries_read += survivors.entries_before_key();
      return Status::OK();
    }
    ++result->entries_written;
    unchecked_bytes += entry.key.size() + entry.value.size();
    if (unchecked_bytes < kBytesBetweenCancelChecks) continue;
    if (context.cancelled()) return Status::ShutdownInProgress("merge cancelled");
    unchecked_bytes = 0;
  }
  result->entries_read += survivors.entries_read();
  return survivors.status();
}

// Step 1 of merge_job.h: the output's new tables, in order.
Status MakeTables(const MergeStep& step, const JobContext& context, PersistCounters* counters,
                  std::vector<TableRef>* new_tables, MergeStep::Result* result, Cut* cut) {
  RunWriter writer(context, counters);
  Status s;
  const auto finish = [&] {
    std::vector<TableRef> tables;
    s = writer.Finish(&tables);
    for (const TableRef& table : tables) result->bytes_written += table->table().span().bytes;
    result->written.insert(result->written.end(), tables.begin(), tables.end());
    new_tables->insert(new_tables->end(), tables.begin(), tables.end());
  };
  for (const MergePiece& piece : PlanStep(step, context)) {
    if (piece.table == nullptr) {
      s = WritePiece(step, piece, context, &writer, result, cut);
    } else {
      finish();
      if (s.ok()) new_tables->push_back(piece.table);
      result->bytes_moved += piece.table->table().span().bytes;
    }
    if (!s.ok() || !cut->at_end) break;
  }
  if (s.ok()) finish();
  if (!s.ok()) {
    for (const TableRef& table : result->written) table->MarkObsolete();
  }
  return s;
}

// The part of an input from the cut on; null if nothing is left. An input that is itself such a part, of a
// merge that did not come to its end, may begin above the cut: what lies below stays dead.
std::shared_ptr<const Run> Rest(const Run& input, const Comparator* comparator, const std::string& cut) {
  const bool begins_above = input.has_live_lower() && comparator->Compare(input.live_lower(), cut) > 0;
  const std::string& live_lower = begins_above ? input.live_lower() : cut;
  std::vector<TableRef> tables;
  for (const TableRef& table : input.tables()) {
    if (comparator->Compare(table->table().largest(), live_lower) >= 0) tables.push_back(table);
  }
  if (tables.empty()) return nullptr;
  return std::make_shared<const Run>(comparator, input.number(), std::move(tables), true, live_lower);
}

// Space for the descriptors that the step will write, taken before its tables take what is left, and given
// back when it is their turn.
class DescriptorSpace {
 public:
  explicit DescriptorSpace(ExtentAllocator* extents) : extents_(extents) {}
  ~DescriptorSpace() { Release(); }
  DescriptorSpace(const DescriptorSpace&) = delete;
  DescriptorSpace& operator=(const DescriptorSpace&) = delete;

  Status Take(uint64_t bytes) {
    Span span;
    Status s = extents_->Allocate(bytes, ExtentAllocator::Use::kBackground, &span);
    if (s.ok()) spans_.push_back(span);
    return s;
  }
  void Release() {
    for (const Span& span : spans_) extents_->Free(span);
    spans_.clear();
  }

 private:
  ExtentAllocator* const extents_;
  std::vector<Span> spans_;
};

// About what the step's descriptors take: those of the inputs with a key more, that of the output with new
// tables.
Status TakeDescriptorSpace(const MergeStep& step, const JobContext& context, DescriptorSpace* space) {
  constexpr uint64_t kKeyBytes = 256;
  const uint64_t new_tables = 2 + 2 * step.step_bytes / context.table_bytes;
  uint64_t output_bytes = sizeof(RunHeader) + new_tables * sizeof(TableReference);
  if (step.output.run != nullptr) output_bytes += step.output.run->tables().size() * sizeof(TableReference);
  Status s = space->Take(output_bytes);
  for (size_t i = 0; s.ok() && i < step.inputs.size(); ++i) {
    s = space->Take(sizeof(RunHeader) + step.inputs[i].run.run->tables().size() * sizeof(TableReference) +
                    kKeyBytes);
  }
  return s;
}

}  // namespace

Status MergeStep::Execute(const JobContext& context, PersistCounters* counters, Result* result) const {
  const Comparator* const comparator = context.table_options.comparator;
  DescriptorSpace descriptor_space(context.extents);
  Status s = TakeDescriptorSpace(*this, context, &descriptor_space);
  if (!s.ok()) return s;
  Cut cut;
  std::vector<TableRef> new_tables;  // of the output, written or taken over
  s = MakeTables(*this, context, counters, &new_tables, result, &cut);
  if (!s.ok()) return s;
  descriptor_space.Release();
  result->done = cut.at_end;

  const auto add = [&](int level, std::shared_ptr<const Run> run) {
    if (!s.ok()) return;
    PlacedRun placed{std::move(run), {}};
    s = WriteDescriptor(context, *placed.run, counters, &placed.descriptor);
    if (!s.ok()) return;
    result->new_descriptors.push_back(placed.descriptor);
    result->edit.added.push_back({level, std::move(placed)});
  };
  // The output is replaced only if it grows.
  if (output.run != nullptr && !new_tables.empty()) result->edit.removed.insert(output.run->number());
  if (!new_tables.empty()) {
    std::vector<TableRef> tables;
    if (output.run != nullptr) tables = output.run->tables();
    tables.insert(tables.end(), new_tables.begin(), new_tables.end());
    add(output_level, std::make_shared<const Run>(comparator, output_number, std::move(tables), false, ""));
  }
  for (const Input& input : inputs) {
    result->edit.removed.insert(input.run.run->number());
    if (cut.at_end) continue;
    auto rest = Rest(*input.run.run, comparator, cut.key);
    if (rest != nullptr) add(input.level, std::move(rest));
  }
  if (!s.ok()) {
    for (const Span& descriptor : result->new_descriptors) context.extents->Free(descriptor);
    for (const TableRef& table : result->written) table->MarkObsolete();
  }
  return s;
}

}  // namespace pmlsm
