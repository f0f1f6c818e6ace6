#include "compaction/survivors.h"

#include <algorithm>
#include <utility>

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

bool Survivors::HeadIsOfKey() const {
  return stream_->valid() && rules_.comparator->Equal(stream_->entry().key, key_);
}

void Survivors::SeekToFirst() {
  status_ = Status::OK();
  has_key_ = false;
  ready_.clear();
  read_ = read_before_key_ = shadowed_ = 0;
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

void Survivors::Find() {
  while (stream_->valid()) {
    const Entry& entry = stream_->entry();
    const ValueType type = TagType(entry.tag);
    const size_t interval = Interval(TagSequence(entry.tag));
    const bool same_key = has_key_ && rules_.comparator->Equal(entry.key, key_);
    if (!same_key) {
      read_before_key_ = read_;
      key_given_ = false;
    }
    const bool shadowed = same_key && interval == interval_;
    has_key_ = true;
    key_ = entry.key;
    interval_ = interval;
    const bool asks_filter = rules_.filter != nullptr && interval == rules_.snapshots.size();
    const bool plain = type == ValueType::kDeletion || (type == ValueType::kValue && !asks_filter);
    if (!plain && (shadowed ? type == ValueType::kSingleDeletion : true)) {
      TakeStripe(shadowed);
      if (!status_.ok()) break;
      if (ready_.empty()) continue;
      next_ready_ = 1;
      return Give(ready_[0]);
    }
    ++read_;
    if (shadowed) {
      ++shadowed_;
    } else if (type != ValueType::kDeletion || interval != 0 || rules_.held_below(entry.key)) {
      return Give(entry);
    }
    stream_->Next();
  }
  valid_ = false;
  if (status_.ok()) status_ = stream_->status();
}

void Survivors::TakeStripe(bool shadowed) {
  stripe_.clear();
  values_.clear();
  do {
    ++read_;
    stripe_.push_back(stream_->entry());
    if (!IsKnown(TagType(stream_->entry().tag))) status_ = Status::Corruption("record type in a run");
    stream_->Next();
  } while (HeadIsOfKey() && Interval(TagSequence(stream_->entry().tag)) == interval_);
  end_of_key_ = !HeadIsOfKey();
  // An input that broke off proves nothing about what is older.
  if (status_.ok() && !stream_->valid()) status_ = stream_->status();
  if (status_.ok()) status_ = Resolve(shadowed);
}

Status Survivors::Resolve(bool shadowed) {
  for (size_t i = 0; i < stripe_.size();) {
    const Entry& entry = stripe_[i];
    if (IsSingleDelete(entry)) {
      i = ResolveSingleDelete(i, &shadowed);
    } else if (shadowed) {
      ++shadowed_;
      ++i;
    } else if (IsOperand(entry)) {
      Status s = ResolveOperands(&i);
      if (!s.ok()) return s;
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
  return Status::OK();
}

// Rule 3. The index of the next entry to look at.
size_t Survivors::ResolveSingleDelete(size_t i, bool* shadowed) {
  const Entry& entry = stripe_[i];
  if (i + 1 == stripe_.size()) {
    if (interval_ != 0 || !NothingOlder()) ready_.push_back(entry);
    return i + 1;
  }
  if (!IsValue(stripe_[i + 1]) && !IsOperand(stripe_[i + 1])) {
    ++shadowed_;
    return i + 1;
  }
  const Entry* beneath = nullptr;
  if (i + 2 < stripe_.size()) {
    beneath = &stripe_[i + 2];
  } else if (!end_of_key_) {
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
Status Survivors::ResolveOperands(size_t* i) {
  const size_t first = *i;
  size_t end = first;
  while (end < stripe_.size() && IsOperand(stripe_[end])) ++end;
  const Entry* const base = end < stripe_.size() ? &stripe_[end] : nullptr;
  *i = end + (base != nullptr);
  std::vector<Slice> operands;
  for (size_t j = end; j-- > first;) operands.push_back(stripe_[j].value);
  const bool entity = base != nullptr && TagType(base->tag) == ValueType::kEntity;
  const Entry& newest = stripe_[first];
  std::string folded;
  if (rules_.merge_operator != nullptr && !entity && (base != nullptr || NothingOlder())) {
    const Slice* existing = base != nullptr && IsValue(*base) ? &base->value : nullptr;
    if (!rules_.merge_operator->FullMerge(key_, existing, operands, &folded))
      return Status::Corruption("merge operator failed", rules_.merge_operator->Name());
    shadowed_ += *i - first - 1;
    values_.push_back(std::move(folded));
    PutValue({newest.key, MakeTag(TagSequence(newest.tag), ValueType::kValue), values_.back()});
    return Status::OK();
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
  return Status::OK();
}

bool Survivors::FoldOperands(const std::vector<Slice>& operands, std::string* folded) const {
  if (rules_.merge_operator == nullptr || operands.size() < 2) return false;
  *folded = operands[0].ToString();
  for (size_t i = 1; i < operands.size(); ++i) {
    std::string both;
    if (!rules_.merge_operator->PartialMerge(key_, *folded, operands[i], &both)) return false;
    folded->swap(both);
  }
  return true;
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
    if (is_changed) {
      values_.push_back(std::move(changed));
      entry.value = values_.back();
    }
  }
  ready_.push_back(entry);
}

}  // namespace pmlsm
