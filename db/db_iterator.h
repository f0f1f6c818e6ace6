// DBIterator: the user's view of the merged entries of a read view: for each user key the newest version at
// or below the snapshot, tombstones hidden, inside the bounds.
//
// Where the internal iterator stands while valid: going forward, on the entry that is shown; going back, on
// the entry before all versions of the key that is shown. Keys and values are slices into the pinned view, so
// nothing is copied.
//
// Thread safety: one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "db/read_view.h"
#include "db/scan_feedback.h"
#include "pmlsm/iterator.h"
#include "pmlsm/options.h"
#include "util/internal_iterator.h"

namespace pmlsm {

class DBIterator final : public Iterator {
 public:
  // Takes over the pin. Bounds of `options` are copied. `feedback` outlives the pin.
  DBIterator(const Comparator* comparator, const ReadOptions& options, SequenceNumber snapshot, ViewPin pin,
             std::unique_ptr<InternalIterator> entries, ScanFeedback* feedback);
  ~DBIterator() override;

  bool Valid() const override { return valid_; }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& target) override;
  void SeekForPrev(const Slice& target) override;
  void Next() override;
  void Prev() override;
  Slice key() const override;
  Slice value() const override;
  Status status() const override { return entries_->status(); }

 private:
  bool BelowLower(const Slice& key) const;
  bool AtOrAboveUpper(const Slice& key) const;
  void FindForward(const Entry* passed);
  void FindBackward();
  // What they step over is added to skipped_.
  void StepForward(const Entry* passed);
  void StepBackward();
  void Show(const Entry& entry);

  const Comparator* const comparator_;
  const SequenceNumber snapshot_;
  const std::optional<std::string> lower_;
  const std::optional<std::string> upper_;
  const ViewPin pin_;
  std::unique_ptr<InternalIterator> entries_;
  ScanFeedback* const feedback_;
  uint64_t skipped_ = 0;  // entries, all moves
  bool valid_ = false;
  bool forward_ = true;
  Entry shown_;
};

// An iterator that is empty and has this status.
Iterator* NewErrorIterator(Status status);

}  // namespace pmlsm
