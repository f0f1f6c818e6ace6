// Survivors: the entries of a merged stream that are still needed.
//
// Entries come in internal order. The versions of a key that lie between two neighbouring snapshots are its
// stripe: all readers see them, or none. Nothing is ever folded or paired across stripes.
// 1. Below the newest value or tombstone of a stripe, the stripe's versions are shadowed and go.
// 2. A tombstone goes if the oldest snapshot sees it and nothing older than the inputs can hold its key.
// 3. A SingleDelete and the value next below it in its stripe both go; over another tombstone of its stripe it
//    goes alone; otherwise it stays (also below a newer value: what it is for may lie in an older run), unless
//    rule 2 lets it go. Used against its contract, over operands or several values, it counts as a deletion.
// 4. Operands are folded with their base: the value or tombstone below them in their stripe, or nothing if no
//    older version exists anywhere. The outcome is a value with the newest operand's number. Without a base
//    they are folded to one operand, if the operator can. Otherwise, and if the operator fails or makes too
//    large a value, operands and base stay: nothing is lost, and a read of this key alone hears of it.
// 5. The filter is asked about values that are newer than every snapshot and the newest of their key.
// 6. A range tombstone of the stripe covers the versions older than it: they go, and operands above it have a
//    base, which is nothing. It is not an entry of the stream; which range tombstones stay is decided by
//    RangeTombstones::Surviving.
//
// The sources' keys and values must stay readable while the stream lives: tables and memtables are read in
// place. An error, or being cancelled, ends the stream and shows in status().
//
// Thread safety: one thread at a time.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compaction/forward_iterator.h"
#include "pmlsm/compaction_filter.h"
#include "pmlsm/comparator.h"
#include "pmlsm/merge_operator.h"
#include "util/range_tombstones.h"

namespace pmlsm {

struct SurvivorRules {
  const Comparator* comparator = nullptr;
  std::vector<SequenceNumber> snapshots;          // ascending
  std::function<bool(const Slice&)> held_below;   // whether a run older than all inputs may hold the key
  const MergeOperator* merge_operator = nullptr;  // null: operands stay
  const CompactionFilter* filter = nullptr;       // null: none
  int filter_level = 0;
  const RangeTombstones* range_tombstones = nullptr;  // of all inputs; null: none
  std::function<bool()> cancelled;  // asked now and then; true ends the stream with ShutdownInProgress
};

class Survivors final : public ForwardIterator {
 public:
  Survivors(SurvivorRules rules, std::unique_ptr<InternalIterator> stream);

  void SeekToFirst() override;
  void Next() override;
  Status status() const override { return status_; }

  // Whether no other entry of this one's key has been given.
  bool first_of_key() const { return !key_given_before_; }
  uint64_t entries_read() const { return read_; }
  // Of keys before this one's: all their entries have been given or dropped.
  uint64_t entries_before_key() const { return read_before_key_; }
  // Entries that went for a newer one of their key.
  uint64_t shadowed() const { return shadowed_; }

 private:
  static constexpr size_t kNoInterval = ~size_t{0};

  static constexpr uint64_t kEntriesBetweenCancelChecks = 1024;

  // Index of the first snapshot that sees `sequence`; snapshots.size() if only the live state does.
  size_t Interval(SequenceNumber sequence) const;
  // The newest range tombstone over key_ that the readers of `interval` see; 0 if there is none.
  SequenceNumber NewestCovering(size_t interval);
  bool HeadIsOfKey() const;
  void Find();
  bool CountRead();
  void Give(const Entry& entry);
  void TakeStripe(SequenceNumber covered_from, bool shadowed);
  void Resolve(bool shadowed);
  size_t ResolveSingleDelete(size_t i, bool* shadowed);
  void ResolveOperands(size_t* i);
  bool FoldOntoBase(const Entry* base, const std::vector<Slice>& operands, std::string* folded) const;
  bool FoldOperands(const std::vector<Slice>& operands, std::string* folded) const;
  void PutTombstone(const Entry& entry);
  void PutValue(Entry entry);
  // Whether no reader of the stripe sees anything below it.
  bool NothingOlder() const { return covered_ || (end_of_key_ && !rules_.held_below(key_)); }

  const SurvivorRules rules_;
  const std::unique_ptr<InternalIterator> stream_;
  std::optional<RangeTombstones::Cursor> range_tombstones_;
  Status status_;
  bool has_key_ = false;
  Slice key_;
  size_t interval_ = kNoInterval;  // of the newest version of key_ offered last
  bool key_given_ = false;
  bool key_given_before_ = false;
  uint64_t read_ = 0;
  uint64_t read_before_key_ = 0;
  uint64_t shadowed_ = 0;
  // A stripe that needs thought: what was read of it, and what it leaves.
  std::vector<Entry> stripe_;
  bool end_of_key_ = false;  // nothing in the inputs is older than stripe_
  bool covered_ = false;     // a range tombstone of the stripe lies below stripe_
  std::vector<Entry> ready_;
  size_t next_ready_ = 0;
  std::deque<std::string> values_;  // of ready_
};

}  // namespace pmlsm
