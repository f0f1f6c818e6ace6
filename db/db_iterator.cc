#include "db/db_iterator.h"

#include <utility>

#include "db/storage.h"
#include "util/check.h"

namespace pmlsm {
namespace {

// After this many versions of one key that cannot be shown, a seek past all of them is cheaper than stepping.
constexpr int kStepsBeforeSeek = 8;

std::optional<std::string> CopyBound(const Slice* bound) {
  if (bound == nullptr) return std::nullopt;
  return bound->ToString();
}

class ErrorIterator final : public Iterator {
 public:
  explicit ErrorIterator(Status status) : status_(std::move(status)) {}
  bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(const Slice&) override {}
  void SeekForPrev(const Slice&) override {}
  void Next() override { CHECK(Valid()); }
  void Prev() override { CHECK(Valid()); }
  Slice key() const override { return Slice(); }
  Slice value() const override { return Slice(); }
  Status status() const override { return status_; }

 private:
  const Status status_;
};

}  // namespace

Iterator* NewErrorIterator(Status status) { return new ErrorIterator(std::move(status)); }

DBIterator::DBIterator(const Comparator* comparator, const ReadOptions& options, SequenceNumber snapshot,
                       ViewPin pin, std::unique_ptr<InternalIterator> entries, ScanFeedback* feedback)
    : comparator_(comparator),
      snapshot_(snapshot),
      lower_(CopyBound(options.iterate_lower_bound)),
      upper_(CopyBound(options.iterate_upper_bound)),
      pin_(pin),
      entries_(std::move(entries)),
      feedback_(feedback) {}

DBIterator::~DBIterator() {
  entries_.reset();
  feedback_->NoteIterator(skipped_);
  Storage::Unpin(pin_);
}

bool DBIterator::BelowLower(const Slice& key) const {
  return lower_ && comparator_->Compare(key, *lower_) < 0;
}
bool DBIterator::AtOrAboveUpper(const Slice& key) const {
  return upper_ && comparator_->Compare(key, *upper_) >= 0;
}

void DBIterator::Show(const Entry& entry) {
  shown_ = entry;
  valid_ = true;
}

void DBIterator::SeekToFirst() {
  if (lower_) return Seek(*lower_);
  entries_->SeekToFirst();
  FindForward(nullptr);
}

void DBIterator::SeekToLast() {
  // The tag that sorts before all versions of the bound keeps the bound itself out.
  if (upper_) {
    entries_->SeekForPrev(*upper_, kMaxTag);
  } else {
    entries_->SeekToLast();
  }
  FindBackward();
}

void DBIterator::Seek(const Slice& target) {
  entries_->Seek(BelowLower(target) ? Slice(*lower_) : target, SeekTag(snapshot_));
  FindForward(nullptr);
}

void DBIterator::SeekForPrev(const Slice& target) {
  if (AtOrAboveUpper(target)) return SeekToLast();
  entries_->SeekForPrev(target, Tag{0});
  FindBackward();
}

void DBIterator::Next() {
  CHECK(valid_);
  const Entry passed = shown_;
  if (forward_) {
    entries_->Next();
  } else {
    entries_->Seek(passed.key, Tag{0});
  }
  FindForward(&passed);
}

void DBIterator::Prev() {
  CHECK(valid_);
  if (forward_) entries_->SeekForPrev(shown_.key, kMaxTag);
  FindBackward();
}

// From where entries_ stands, shows the first visible key; versions of passed->key are gone by.
void DBIterator::FindForward(const Entry* passed) {
  const uint64_t before = skipped_;
  StepForward(passed);
  feedback_->NoteMove(skipped_ - before);
}

void DBIterator::StepForward(const Entry* passed) {
  forward_ = true;
  valid_ = false;
  bool hide = passed != nullptr;
  Slice hidden = hide ? passed->key : Slice();
  int steps = 0;
  for (; entries_->valid(); ++skipped_) {
    const Entry entry = entries_->entry();
    if (hide && comparator_->Equal(entry.key, hidden)) {
      if (++steps < kStepsBeforeSeek) {
        entries_->Next();
      } else {
        entries_->Seek(hidden, Tag{0});
        steps = 0;
      }
      continue;
    }
    steps = 0;
    if (AtOrAboveUpper(entry.key)) return;
    if (TagSequence(entry.tag) > snapshot_) {
      entries_->Next();
      if (entries_->valid() && TagSequence(entries_->entry().tag) > snapshot_ &&
          comparator_->Equal(entries_->entry().key, entry.key)) {
        entries_->Seek(entries_->entry().key, SeekTag(snapshot_));
      }
      continue;
    }
    if (IsDeletion(TagType(entry.tag))) {
      hide = true;
      hidden = entry.key;
      entries_->Next();
      continue;
    }
    if (!BelowLower(entry.key)) Show(entry);
    return;
  }
}

// From where entries_ stands, going back, shows the last visible key.
void DBIterator::FindBackward() {
  const uint64_t before = skipped_;
  StepBackward();
  feedback_->NoteMove(skipped_ - before);
}

void DBIterator::StepBackward() {
  forward_ = false;
  valid_ = false;
  while (entries_->valid()) {
    // All versions of one key, oldest first: the last one at or below the snapshot decides.
    const Slice key = entries_->entry().key;
    if (BelowLower(key)) return;
    Entry newest;
    bool found = false;
    for (int steps = 0; entries_->valid() && comparator_->Equal(entries_->entry().key, key); ++steps) {
      if (TagSequence(entries_->entry().tag) > snapshot_) {
        entries_->SeekForPrev(key, kMaxTag);
        break;
      }
      newest = entries_->entry();
      found = true;
      if (steps == kStepsBeforeSeek) {
        // Straight to the newest visible version, then past all of them.
        entries_->Seek(key, SeekTag(snapshot_));
        if (!entries_->valid()) break;
        newest = entries_->entry();
        entries_->SeekForPrev(key, kMaxTag);
        break;
      }
      entries_->Prev();
    }
    if (!entries_->status().ok()) return;
    if (found && !IsDeletion(TagType(newest.tag)) && !AtOrAboveUpper(key)) {
      Show(newest);
      return;
    }
    ++skipped_;
  }
}

Slice DBIterator::key() const {
  DCHECK(valid_);
  return shown_.key;
}

Slice DBIterator::value() const {
  DCHECK(valid_);
  return shown_.value;
}

}  // namespace pmlsm
