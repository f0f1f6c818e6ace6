// The get path: pin a view, take the sequence number after it, look through memtables and runs from new to
// old.
#include <utility>

#include "db/db_impl.h"
#include "db/db_iterator.h"
#include "db/merging_iterator.h"
#include "util/hooks.h"

namespace pmlsm {
namespace {

void ReleasePin(void* view, void* stripe) {
  Storage::Unpin({static_cast<ReadView*>(view), static_cast<int>(reinterpret_cast<intptr_t>(stripe))});
}

}  // namespace

// After the view was pinned: a view may miss only writes that are newer than it, so whatever was acknowledged
// before the read began is in the view and at or below the number read now.
SequenceNumber DBImpl::ReadSequence(const ReadOptions& options) const {
  if (options.snapshot != nullptr) return options.snapshot->GetSequenceNumber();
  return last_sequence_.load(std::memory_order_acquire);
}

Status DBImpl::FindNewest(const ReadView& view, const Slice& key, SequenceNumber snapshot, bool verify,
                          Entry* entry, bool* found) const {
  *found = view.active->rep->Get(key, snapshot, entry);
  for (size_t i = 0; !*found && i < view.frozen.size(); ++i)
    *found = view.frozen[i]->rep->Get(key, snapshot, entry);
  return *found ? Status::OK() : view.version->Get(key, snapshot, verify, entry, found);
}

// Without a view if the DB is closed.
ViewPin DBImpl::PinOf(const ColumnFamily& family) {
  return family.reads == nullptr ? ViewPin() : family.reads->views.Pin();
}

Status DBImpl::Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) {
  return GetFrom(*default_family_, options, key, value);
}

Status DBImpl::GetFrom(const ColumnFamily& family, const ReadOptions& options, const Slice& key,
                       PinnableSlice* value) const {
  value->Reset();
  const ViewPin pin = PinOf(family);
  if (pin.view == nullptr) return Status::Aborted("DB is closed", name_);
  hooks.Reached(HookPoint::kViewTaken);
  Entry entry;
  bool found = false;
  Status s = FindNewest(*pin.view, key, ReadSequence(options), options.verify_checksums, &entry, &found);
  if (s.ok() && found && TagType(entry.tag) == ValueType::kValue) {
    value->PinSlice(entry.value, ReleasePin, pin.view,
                    reinterpret_cast<void*>(static_cast<intptr_t>(pin.stripe)));
    return s;
  }
  Storage::Unpin(pin);
  return s.ok() ? Status::NotFound() : s;
}

Status DBImpl::Get(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   PinnableSlice* value) {
  value->Reset();
  ColumnFamily* family = nullptr;
  Status s = FamilyOf(handle, &family);
  return s.ok() ? GetFrom(*family, options, key, value) : s;
}

Status DBImpl::Get(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   std::string* value) {
  PinnableSlice pinned;
  Status s = Get(options, handle, key, &pinned);
  if (s.ok()) value->assign(pinned.data(), pinned.size());
  return s;
}

Status DBImpl::Get(const ReadOptions& options, const Slice& key, std::string* value) {
  PinnableSlice pinned;
  Status s = Get(options, key, &pinned);
  if (s.ok()) value->assign(pinned.data(), pinned.size());
  return s;
}

Iterator* DBImpl::NewIterator(const ReadOptions& options) { return NewIteratorOf(*default_family_, options); }

Iterator* DBImpl::NewIterator(const ReadOptions& options, ColumnFamilyHandle* handle) {
  ColumnFamily* family = nullptr;
  Status s = FamilyOf(handle, &family);
  return s.ok() ? NewIteratorOf(*family, options) : NewErrorIterator(s);
}

// A pin of each family, of one moment. One family needs no lock (ReadSequence). Memtables are switched under
// mutex_: until it is let go, all views hold whatever is at or below the number read here.
Status DBImpl::PinTogether(const std::vector<ColumnFamily*>& families, const ReadOptions& options,
                           std::vector<ViewPin>* pins, SequenceNumber* sequence) {
  if (families.size() == 1) {
    const ViewPin pin = PinOf(*families[0]);
    if (pin.view == nullptr) return Status::Aborted("DB is closed", name_);
    pins->push_back(pin);
    *sequence = ReadSequence(options);
    return Status::OK();
  }
  MutexLock lock(&mutex_);
  if (closed_) return Status::Aborted("DB is closed", name_);
  for (const ColumnFamily* family : families) pins->push_back(family->reads->views.Pin());
  *sequence = ReadSequence(options);
  return Status::OK();
}

Status DBImpl::NewIterators(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& handles,
                            std::vector<Iterator*>* iterators) {
  iterators->clear();
  std::vector<ColumnFamily*> families;
  for (const ColumnFamilyHandle* handle : handles) {
    families.push_back(nullptr);
    Status s = FamilyOf(handle, &families.back());
    if (!s.ok()) return s;
  }
  std::vector<ViewPin> pins;
  SequenceNumber sequence = 0;
  Status s = PinTogether(families, options, &pins, &sequence);
  if (!s.ok()) return s;
  for (size_t i = 0; i < families.size(); ++i) {
    iterators->push_back(NewFamilyIterator(*families[i], options, pins[i], sequence));
  }
  return Status::OK();
}

Iterator* DBImpl::NewIteratorOf(const ColumnFamily& family, const ReadOptions& options) const {
  const ViewPin pin = PinOf(family);
  if (pin.view == nullptr) return NewErrorIterator(Status::Aborted("DB is closed", name_));
  hooks.Reached(HookPoint::kViewTaken);
  return NewFamilyIterator(family, options, pin, ReadSequence(options));
}

// Takes over the pin.
Iterator* DBImpl::NewFamilyIterator(const ColumnFamily& family, const ReadOptions& options, ViewPin pin,
                                    SequenceNumber sequence) const {
  const ReadView& view = *pin.view;
  std::vector<std::unique_ptr<InternalIterator>> sources;
  sources.reserve(1 + view.frozen.size() + view.version->run_count());
  if (view.active->rep->entries() != 0) sources.push_back(view.active->rep->NewIterator());
  for (const MemTableRef& memtable : view.frozen) sources.push_back(memtable->rep->NewIterator());
  for (const Run* run : view.version->newest_first())
    sources.push_back(run->NewIterator(options.verify_checksums));
  std::unique_ptr<InternalIterator> entries;
  if (sources.size() == 1) {
    entries = std::move(sources[0]);
  } else {
    entries = std::make_unique<MergingIterator>(family.options.comparator, std::move(sources));
  }
  return new DBIterator(family.options.comparator, options, sequence, pin, std::move(entries),
                        &family.reads->scans);
}

const Snapshot* DBImpl::GetSnapshot() {
  MutexLock lock(&mutex_);
  if (closed_) return nullptr;
  return snapshots_.New(last_sequence_.load(std::memory_order_acquire));
}

void DBImpl::ReleaseSnapshot(const Snapshot* snapshot) {
  if (snapshot == nullptr) return;
  MutexLock lock(&mutex_);
  snapshots_.Delete(snapshot);
}

}  // namespace pmlsm
