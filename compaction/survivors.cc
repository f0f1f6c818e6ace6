#include "compaction/survivors.h"

#include <algorithm>
#include <utility>

#include "pmlsm/types.h"

namespace pmlsm {
namespace {

bool IsValue(const Entry& entry) {
  return TagType(entry.tag) == ValueType::kValue || TagType(entry.tag) == ValueType::kEntity;
}
bool IsOperand(const Entry& entry) { return TagType(entry.tag) == ValueType::kMerge; }
bool IsSingleDelete(const Entry& entry) { return TagType(entry.tag) == ValueType::kSingleDeletion; }
bool IsKnown(ValueType type) { return type <= ValueType::kSingleDeletion || type == ValueType::kEntity; }

}  // namespace

Survivors::Survivors(SurvivorRules rules, std::unique_ptr<InternalIterator> stream)
    : rules_(std::move(rules)), stream_(std::move(stream)) {}

size_t Survivors::Interval(SequenceNumber sequence) const {
  return std::lower_bound(rules_.snapshots.begin(), rules_.snapshots.end(), sequence) -
         rules_.snapshots.begin();
}

SequenceNumber Survivors::NewestCovering(size_t interval) {
  if (!range_tombstones_) return 0;
  const bool live = interval == rules_.snapshots.size();
  const SequenceNumber newest =
      range_tombstones_->NewestCovering(key_, live ? kMaxSequenceNumber : rules_.snapshots[interval]);
  return newest != 0 && Interval(newest) == interval ? newest : 0;
}

bool Survivors::HeadIsOfKey() const {
  return stream_->valid() && rules_.comparator->Equal(stream_->entry().key, key_);
}

void Survivors::SeekToFirst() {
  status_ = Status::OK();
  has_key_ = false;
  ready_.clear();
  read_ = read_before_key_ = shadowed_ = 0;
  if (rules_.range_tombstones != nullptr) range_tombstones_.emplace(rules_.range_tombstones);
  stream_->SeekToFirst();
  Find();
}

void Survivors::Next() {
  if (ready_.empty()) {
    stream_->Next();
  } else if (next_ready_ < ready_.size()) {
    return Give(ready_[next_ready_++]);
  } else {
    ready_.clear();
  }
  Find();
}

void Survivors::Give(const Entry& entry) {
  key_given_before_ = key_given_;
  key_given_ = true;
  entry_ = entry;
  valid_ = true;
}

// Whether to go on.
bool Survivors::CountRead() {
  if (++read_ % kEntriesBetweenCancelChecks != 0 || !rules_.cancelled || !rules_.cancelled()) return true;
  status_ = Status::ShutdownInProgress("merge cancelled");
  return false;
}

void Survivors::Find() {
  while (status_.ok() && stream_->valid()) {
    const Entry& entry = stream_->entry();
    const ValueType type = TagType(entry.tag);
    const SequenceNumber sequence = TagSequence(entry.tag);
    const size_t interval = Interval(sequence);
    const bool same_key = has_key_ && rules_.comparator->Equal(entry.key, key_);
    if (!same_key) {
      read_before_key_ = read_;
      key_given_ = false;
    }
    bool shadowed = same_key && interval == interval_;
    has_key_ = true;
    key_ = entry.key;
    interval_ = interval;
    const SequenceNumber covered_from = NewestCovering(interval);
    const bool covered = sequence < covered_from;
    const bool asks_filter = rules_.filter != nullptr && interval == rules_.snapshots.size();
    const bool plain = type == ValueType::kDeletion || (type == ValueType::kValue && !asks_filter);
    if (!plain && !covered && (!shadowed || type == ValueType::kSingleDeletion)) {
      TakeStripe(covered_from, shadowed);
      if (!status_.ok()) break;
      if (ready_.empty()) continue;
      next_ready_ = 1;
      return Give(ready_[0]);
    }
    if (!CountRead()) break;
    if (shadowed || covered) {
      ++shadowed_;
    } else if (type != ValueType::kDeletion || interval != 0 || rules_.held_below(entry.key)) {
      return Give(entry);
    }
    stream_->Next();
  }
  valid_ = false;
  if (status_.ok()) status_ = stream_->status();
}

// The rest of the stripe, but for what a range tombstone with the number `covered_from` covers.
void Survivors::TakeStripe(SequenceNumber covered_from, bool shadowed) {
  stripe_.clear();
  values_.clear();
  covered_ = covered_from != 0;
  do {
    const Entry& entry = stream_->entry();
    if (!IsKnown(TagType(entry.tag))) status_ = Status::Corruption("record type in a run");
    if (!status_.ok() || !CountRead()) return;
    if (TagSequence(entry.tag) < covered_from) {
      ++shadowed_;
    } else {
      stripe_.push_back(entry);
    }
    stream_->Next();
  } while (HeadIsOfKey() && Interval(TagSequence(stream_->entry().tag)) == interval_);
  end_of_key_ = !HeadIsOfKey();
  // An input that broke off proves nothing about what is older.
  if (!stream_->valid()) status_ = stream_->status();
  if (status_.ok()) Resolve(shadowed);
}

void Survivors::Resolve(bool shadowed) {
  for (size_t i = 0; i < stripe_.size();) {
    const Entry& entry = stripe_[i];
    if (IsSingleDelete(entry)) {
      i = ResolveSingleDelete(i, &shadowed);
    } else if (shadowed) {
      ++shadowed_;
      ++i;
    } else if (IsOperand(entry)) {
      ResolveOperands(&i);
      shadowed = true;
    } else {
      if (IsValue(entry)) {
        PutValue(entry);
      } else {
        PutTombstone(entry);
      }
      shadowed = true;
      ++i;
    }
  }
}

// Rule 3. The index of the next entry to look at.
size_t Survivors::ResolveSingleDelete(size_t i, bool* shadowed) {
  const Entry& entry = stripe_[i];
  if (i + 1 == stripe_.size()) {
    if (!covered_ && (interval_ != 0 || !NothingOlder())) ready_.push_back(entry);
    return i + 1;
  }
  if (!IsValue(stripe_[i + 1]) && !IsOperand(stripe_[i + 1])) {
    ++shadowed_;
    return i + 1;
  }
  const Entry* beneath = nullptr;
  if (i + 2 < stripe_.size()) {
    beneath = &stripe_[i + 2];
  } else if (!end_of_key_ && !covered_) {
    beneath = &stream_->entry();
  }
  if (IsValue(stripe_[i + 1]) && (beneath == nullptr || !(IsValue(*beneath) || IsOperand(*beneath)))) {
    shadowed_ += 2;
    return i + 2;
  }
  if (!*shadowed) PutTombstone(entry);
  *shadowed = true;
  return i + 1;
}

// Rule 4. *i moves behind the operands and their base.
void Survivors::ResolveOperands(size_t* i) {
  const size_t first = *i;
  size_t end = first;
  while (end < stripe_.size() && IsOperand(stripe_[end])) ++end;
  const Entry* const base = end < stripe_.size() ? &stripe_[end] : nullptr;
  *i = end + (base != nullptr);
  std::vector<Slice> operands;
  for (size_t j = end; j-- > first;) operands.push_back(stripe_[j].value);
  const Entry& newest = stripe_[first];
  std::string folded;
  if (FoldOntoBase(base, operands, &folded)) {
    shadowed_ += *i - first - 1;
    values_.push_back(std::move(folded));
    return PutValue({newest.key, MakeTag(TagSequence(newest.tag), ValueType::kValue), values_.back()});
  }
  if (FoldOperands(operands, &folded)) {
    shadowed_ += operands.size() - 1;
    values_.push_back(std::move(folded));
    ready_.push_back({newest.key, newest.tag, values_.back()});
  } else {
    ready_.insert(ready_.end(), stripe_.begin() + first, stripe_.begin() + end);
  }
  if (base != nullptr && IsValue(*base)) ready_.push_back(*base);
  if (base != nullptr && !IsValue(*base)) PutTombstone(*base);
}

// `base`: null if the stripe has none. False: it cannot be done, now or ever.
bool Survivors::FoldOntoBase(const Entry* base, const std::vector<Slice>& operands,
                             std::string* folded) const {
  if (rules_.merge_operator == nullptr || (base == nullptr && !NothingOlder())) return false;
  if (base != nullptr && TagType(base->tag) == ValueType::kEntity) return false;
  const Slice* existing = base != nullptr && IsValue(*base) ? &base->value : nullptr;
  return rules_.merge_operator->FullMerge(key_, existing, operands, folded) &&
         folded->size() <= kMaxValueBytes;
}

bool Survivors::FoldOperands(const std::vector<Slice>& operands, std::string* folded) const {
  if (rules_.merge_operator == nullptr || operands.size() < 2) return false;
  folded->clear();
  return rules_.merge_operator->PartialMergeMulti(key_, operands, folded) && folded->size() <= kMaxValueBytes;
}

void Survivors::PutTombstone(const Entry& entry) {
  if (interval_ == 0 && !rules_.held_below(entry.key)) return;
  ready_.push_back({entry.key, MakeTag(TagSequence(entry.tag), ValueType::kDeletion), Slice()});
}

// Rule 5.
void Survivors::PutValue(Entry entry) {
  const bool asks = rules_.filter != nullptr && interval_ == rules_.snapshots.size();
  if (asks && TagType(entry.tag) == ValueType::kValue) {
    std::string changed;
    bool is_changed = false;
    if (rules_.filter->Filter(rules_.filter_level, entry.key, entry.value, &changed, &is_changed))
      return PutTombstone(entry);
    if (is_changed && changed.size() > kMaxValueBytes) {
      status_ = Status::InvalidArgument(std::string("compaction filter ") + rules_.filter->Name() +
                                            ", value of " + std::to_string(changed.size()) + " bytes",
                                        "must have 0 to " + std::to_string(kMaxValueBytes));
      return;
    }
    if (is_changed) {
      values_.push_back(std::move(changed));
      entry.value = values_.back();
    }
  }
  ready_.push_back(entry);
}

}  // namespace pmlsm
