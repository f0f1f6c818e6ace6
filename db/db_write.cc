// The put path: check, make room, log, insert, fence, show. A write's stores to PMem are those of WalWriter;
// the fence comes after the memtable insert, so that the record is on its way to the medium while the index
// is searched. The entry stays invisible until last_sequence_ covers it, which happens after the fence.
#include <algorithm>
#include <random>
#include <utility>

#include "db/db_impl.h"
#include "db/write_batch_format.h"
#include "util/check.h"

namespace pmlsm {
namespace {

uint64_t RandomSalt() {
  thread_local std::mt19937_64 generator{(uint64_t{std::random_device{}()} << 32) | std::random_device{}()};
  return generator();
}

// The families that a batch writes to, by ID.
struct BatchFamilies {
  bool uses_default = false;
  std::vector<uint32_t> others;  // each once

  void Add(uint32_t id) {
    if (id == kDefaultFamily) {
      uses_default = true;
    } else if (std::find(others.begin(), others.end(), id) == others.end()) {
      others.push_back(id);
    }
  }
};

// All that can be wrong with a batch, before the first byte is logged, but for families that are not there; and what
// it needs.
Status CheckBatch(const WriteBatch& batch, WriteNeeds* needs, BatchFamilies* families) {
  const std::string& rep = batch.Data();
  if (rep.size() < kBatchHeaderBytes) return Status::Corruption("write batch", "shorter than its header");
  if (rep.size() > kMaxBatchBytes) {
    return Status::InvalidArgument("write batch of " + std::to_string(rep.size()) + " bytes",
                                   "must have at most " + std::to_string(kMaxBatchBytes));
  }
  Slice records(rep.data() + kBatchHeaderBytes, rep.size() - kBatchHeaderBytes);
  uint32_t count = 0;
  needs->payload_bytes = records.size();
  needs->only_deletes = true;
  for (; !records.empty(); ++count) {
    BatchRecord record;
    Status s = TakeBatchRecord(&records, &record);
    if (s.ok()) s = CheckKeyBytes(record.key);
    if (s.ok()) s = CheckValueBytes(record.value);
    if (!s.ok()) return s;
    families->Add(record.family);
    if (!IsDeletion(record.type)) needs->only_deletes = false;
    needs->largest_value_bytes = std::max(needs->largest_value_bytes, record.value.size());
  }
  if (count != batch.Count()) return Status::Corruption("write batch", "count differs from its records");
  return Status::OK();
}

}  // namespace

Status DBImpl::Put(const WriteOptions& options, const Slice& key, const Slice& value) {
  Status s = CheckKeyBytes(key);
  if (s.ok()) s = CheckValueBytes(value);
  return s.ok() ? WriteOne(options, default_family_, ValueType::kValue, key, value) : s;
}

Status DBImpl::Put(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
                   const Slice& value) {
  ColumnFamily* family = nullptr;
  Status s = FamilyOf(handle, &family);
  if (s.ok()) s = CheckKeyBytes(key);
  if (s.ok()) s = CheckValueBytes(value);
  return s.ok() ? WriteOne(options, family, ValueType::kValue, key, value) : s;
}

Status DBImpl::Delete(const WriteOptions& options, const Slice& key) {
  Status s = CheckKeyBytes(key);
  return s.ok() ? WriteOne(options, default_family_, ValueType::kDeletion, key, Slice()) : s;
}

Status DBImpl::Delete(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key) {
  ColumnFamily* family = nullptr;
  Status s = FamilyOf(handle, &family);
  if (s.ok()) s = CheckKeyBytes(key);
  return s.ok() ? WriteOne(options, family, ValueType::kDeletion, key, Slice()) : s;
}

Status DBImpl::SingleDelete(const WriteOptions& options, const Slice& key) {
  Status s = CheckKeyBytes(key);
  return s.ok() ? WriteOne(options, default_family_, ValueType::kSingleDeletion, key, Slice()) : s;
}

Status DBImpl::SingleDelete(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key) {
  ColumnFamily* family = nullptr;
  Status s = FamilyOf(handle, &family);
  if (s.ok()) s = CheckKeyBytes(key);
  return s.ok() ? WriteOne(options, family, ValueType::kSingleDeletion, key, Slice()) : s;
}

Status DBImpl::WriteOne(const WriteOptions& options, ColumnFamily* family, ValueType type, const Slice& key,
                        const Slice& value) {
  WriteNeeds needs(family);
  needs.payload_bytes = BatchRecordBytes(type, family->id, key, value);
  needs.uses_log = !options.disableWAL;
  needs.only_deletes = IsDeletion(type);
  const uint64_t payload_bytes = needs.payload_bytes;
  if (LogRecordBytes(payload_bytes) > segment_bytes_) {
    // It may need several parts.
    std::string rep(kBatchHeaderBytes + payload_bytes, '\0');
    StoreFixed<uint32_t>(rep.data() + kBatchCountPlace, 1);
    StoreBatchRecord(rep.data() + kBatchHeaderBytes, type, family->id, key, value);
    WriteBatch batch(std::move(rep));
    return Write(options, &batch);
  }
  MutexLock lock(&write_mutex_);
  if (family->dropped.load(std::memory_order_relaxed)) return DroppedError(*family);
  Status s = PrepareWrite(needs);
  if (!s.ok()) return s;
  const SequenceNumber sequence = last_sequence_.load(std::memory_order_relaxed) + 1;
  if (!options.disableWAL) {
    StoreBatchRecord(wal_->Stage(payload_bytes), type, family->id, key, value);
    wal_->AppendStaged(sequence, 1, options.sync);
  }
  family->active_rep->Insert(key, MakeTag(sequence, type), value);
  CountWrite(key.size() + value.size(), !options.disableWAL);
  return FinishWrite(sequence, options.sync && !options.disableWAL);
}

Status DBImpl::Write(const WriteOptions& options, WriteBatch* batch) {
  if (batch == nullptr) return Status::InvalidArgument("write batch = null", "must be a batch");
  WriteNeeds needs(default_family_);
  needs.uses_log = !options.disableWAL;
  BatchFamilies ids;
  Status s = CheckBatch(*batch, &needs, &ids);
  if (!s.ok()) return s;
  const Slice records(batch->Data().data() + kBatchHeaderBytes, batch->Data().size() - kBatchHeaderBytes);
  MutexLock lock(&write_mutex_);
  std::vector<ColumnFamily*> families;
  if (!ids.others.empty()) {
    if (ids.uses_default) families.push_back(default_family_);
    for (const uint32_t id : ids.others) {
      families.push_back(FindLive(id));
      if (families.back() == nullptr) {
        return Status::InvalidArgument(
            "write batch", "column family " + std::to_string(id) + " does not exist or was dropped");
      }
    }
    needs.family = families[0];
    needs.families = &families;
  }
  s = PrepareWrite(needs);
  if (!s.ok() || records.empty()) return s;
  const SequenceNumber first = last_sequence_.load(std::memory_order_relaxed) + 1;
  if (!options.disableWAL) {
    s = LogBatch(records, first, batch->Count(), options.sync);
    if (!s.ok()) return s;
  }
  InsertBatch(records, first);
  CountWrite(records.size(), !options.disableWAL);
  return FinishWrite(first + batch->Count() - 1, options.sync && !options.disableWAL);
}

// One record, or, where PrepareWrite found room only in pieces, a part in each segment. A batch of which some
// parts are logged and not all ends writes: a later record would be taken for the missing part.
Status DBImpl::LogBatch(Slice records, SequenceNumber first, uint32_t count, bool sync) {
  while (!wal_->Fits(records.size())) {
    const uint64_t part = wal_->room();
    wal_->Append(Slice(records.data(), part), first, 0, sync);
    records.remove_prefix(part);
    MutexLock lock(&mutex_);
    CHECK(!next_segments_.empty());
    const Span span = next_segments_.back();
    next_segments_.pop_back();
    Status s = StartSegment(span);
    if (!s.ok()) {
      NoteBackgroundError("log", s);
      return s;
    }
  }
  wal_->Append(records, first, count, sync);
  return Status::OK();
}

// Plain additions to what the writer alone changes.
void DBImpl::CountWrite(uint64_t user_bytes, bool logged) {
  const auto add = [](std::atomic<uint64_t>* to, uint64_t count) {
    to->store(to->load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  };
  add(&user_bytes_written_, user_bytes);
  add(&writes_, 1);
  if (!logged) add(&writes_without_log_, 1);
}

void DBImpl::InsertBatch(Slice records, SequenceNumber first) {
  ColumnFamily* family = default_family_;
  for (SequenceNumber sequence = first; !records.empty(); ++sequence) {
    BatchRecord record;
    const Status s = TakeBatchRecord(&records, &record);
    CHECK(s.ok());  // it was checked before it was logged
    if (record.family != family->id) family = FindLive(record.family);
    family->active_rep->Insert(record.key, MakeTag(sequence, record.type), record.value);
  }
}

// The write becomes durable and then visible. After a failed fence nobody knows what is on the medium: writes
// end.
Status DBImpl::FinishWrite(SequenceNumber last, bool needs_fence) {
  if (needs_fence) {
    Status s = wal_->Commit();
    if (!s.ok()) {
      MutexLock lock(&mutex_);
      NoteBackgroundError("log", s);
      return s;
    }
  }
  last_sequence_.store(last, std::memory_order_release);
  return Status::OK();
}

// After OK, the write has room in the log and the memtable, and its tables will have it in the pool. Changes
// nothing if it answers NoSpace.
Status DBImpl::PrepareWrite(const WriteNeeds& needs) {
  if (pacer_.paces()) Pace(needs);
  Status s = TryPrepareWrite(needs);
  if (!s.IsNoSpace()) return s;
  {
    MutexLock lock(&mutex_);
    storage_->Reclaim();  // what readers have let go
  }
  s = TryPrepareWrite(needs);
  while (s.IsNoSpace() && needs.only_deletes) {
    {
      MutexLock lock(&mutex_);
      if (!WaitForMergedSpace()) return s;
    }
    s = TryPrepareWrite(needs);
  }
  return s;
}

Status DBImpl::TryPrepareWrite(const WriteNeeds& needs) {
  if (write_blocked_.load(std::memory_order_relaxed)) {
    MutexLock lock(&mutex_);
    return closed_ ? Status::Aborted("DB is closed", name_) : background_error_;
  }
  if (!needs.uses_log) unlogged_writes_.store(true, std::memory_order_relaxed);
  const auto use = needs.only_deletes ? ExtentAllocator::Use::kDelete : ExtentAllocator::Use::kWrite;
  const bool large =
      needs.families != nullptr || needs.payload_bytes > needs.family->sizes.write_buffer_bytes;
  if (large && !HasRoomForLarge(needs, use)) {
    return Status::NoSpace("write of " + std::to_string(needs.payload_bytes) + " bytes", name_);
  }
  const uint64_t payload_bytes = needs.uses_log ? needs.payload_bytes : 0;
  const bool look = needs.families == nullptr ? needs.family->NeedsLook() : AnyNeedsLook(needs);
  if (look) return MakeMemTableRoom(needs, payload_bytes, use);
  if (!wal_->Fits(payload_bytes)) {
    MutexLock lock(&mutex_);
    Status s = SwitchSegment(payload_bytes, use);
    if (s.ok()) LetGoOfOldLog();
    return s;
  }
  return Status::OK();
}

bool DBImpl::AnyNeedsLook(const WriteNeeds& needs) {
  return std::any_of(needs.families->begin(), needs.families->end(),
                     [](const ColumnFamily* family) { return family->NeedsLook(); });
}

// For its log record and its tables. What is smaller than a memtable is covered by the reserve.
bool DBImpl::HasRoomForLarge(const WriteNeeds& needs, ExtentAllocator::Use use) const {
  constexpr uint64_t kTableOverheadMax = 256 << 10;  // around a single large value: key, index, filter
  const ExtentAllocator& extents = *storage_->extents;
  uint64_t memtable_bytes = needs.family->sizes.write_buffer_bytes;
  uint64_t table_bytes = needs.family->sizes.table_bytes;
  if (needs.families != nullptr) {
    for (const ColumnFamily* family : *needs.families) {
      memtable_bytes = std::min(memtable_bytes, family->sizes.write_buffer_bytes);
      table_bytes = std::min(table_bytes, family->sizes.table_bytes);
    }
  }
  if (needs.payload_bytes <= memtable_bytes) return true;
  if (!extents.HasRoomInPieces(2 * needs.payload_bytes + needs.payload_bytes / 4, use)) return false;
  return needs.largest_value_bytes <= table_bytes ||
         extents.HasRoom(needs.largest_value_bytes + kTableOverheadMax, use);
}

// Goes on in a new log segment that has room for payload_bytes, or for the first part of it (see LogBatch).
Status DBImpl::SwitchSegment(uint64_t payload_bytes, ExtentAllocator::Use use) {
  std::vector<Span> spans;
  Status s = AllocateSegments(payload_bytes, use, &spans);
  if (!s.ok()) {
    merge_for_space_ = true;
    work_.SignalAll();
    return s;
  }
  s = StartSegment(spans[0]);
  for (size_t i = spans.size(); i-- > 1;) {
    if (s.ok()) {
      next_segments_.push_back(spans[i]);
    } else {
      storage_->extents->Free(spans[i]);
    }
  }
  return s;
}

// One span for a record of payload_bytes, of the usual size or, where free space is in small pieces, a
// smaller one; several for a large record that no piece holds. All or nothing.
Status DBImpl::AllocateSegments(uint64_t payload_bytes, ExtentAllocator::Use use, std::vector<Span>* spans) {
  const uint64_t record_bytes = LogRecordBytes(payload_bytes);
  const uint64_t usual = std::max(segment_bytes_, record_bytes);
  constexpr uint64_t kLeastShare = 8;  // much smaller segments would be too many for the manifest
  Span span;
  // A spare one costs no space; what is written to it will, once it is flushed.
  const bool spare_fits = !spare_segments_.empty() && usual <= spare_segments_.back().bytes;
  if (spare_fits && storage_->extents->HasRoomInPieces(0, use)) {
    spans->push_back(spare_segments_.back());
    spare_segments_.pop_back();
    return Status::OK();
  }
  Status s = storage_->extents->AllocateUpTo(usual, std::max(record_bytes, usual / kLeastShare), use, &span);
  if (s.ok()) spans->push_back(span);
  if (!s.IsNoSpace()) return s;
  return record_bytes <= segment_bytes_ ? s : AllocatePieces(record_bytes, use, spans);
}

Status DBImpl::AllocatePieces(uint64_t record_bytes, ExtentAllocator::Use use, std::vector<Span>* spans) {
  // More pieces would cost more than they are worth, and a line of the manifest each.
  constexpr uint64_t kPiecesMax = 128;
  const uint64_t piece_min = std::max(segment_bytes_, record_bytes / kPiecesMax);
  for (uint64_t left = record_bytes; left > 0;) {
    Span span;
    Status s = storage_->extents->AllocateUpTo(left, std::min(left, piece_min), use, &span);
    if (!s.ok()) {
      for (const Span& taken : *spans) storage_->extents->Free(taken);
      spans->clear();
      return s;
    }
    spans->push_back(span);
    // Each part has a header of its own.
    left -= std::min(left, span.bytes - sizeof(LogRecordHeader));
  }
  return Status::OK();
}

// Steps: 1. Make the old segment durable. 2. Publish a manifest that names the new one, with a salt of its
// own. 3. Use it. CRASH before 2: the space is free.
Status DBImpl::StartSegment(Span span) {
  Status s = wal_->Sync();  // 1
  if (!s.ok()) {
    storage_->extents->Free(span);
    NoteBackgroundError("log", s);
    return s;
  }
  ManifestState next = state_;
  SegmentRecord segment = {};
  segment.number = next.next_segment_number++;
  segment.offset = span.offset;
  segment.bytes = span.bytes;
  segment.base_position = wal_->has_segment() ? wal_->position() : log_end_;
  segment.salt = RandomSalt();
  next.segments.push_back(segment);
  next.clean_end = 0;
  s = PublishState(&next);  // 2
  if (!s.ok()) {
    storage_->extents->Free(span);
    return s;
  }
  wal_->UseSegment(segment);  // 3
  work_.SignalAll();          // to get the next one ready
  return Status::OK();
}

}  // namespace pmlsm
