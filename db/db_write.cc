// The put path: check, make room, log, insert, fence, show. A write's stores to PMem are those of WalWriter;
// the fence comes after the memtable insert, so that the record is on its way to the medium while the index
// is searched. The entry stays invisible until last_sequence_ covers it, which happens after the fence.
#include <algorithm>
#include <chrono>
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

// All that can be wrong with a batch, before the first byte is logged; and what it needs.
Status CheckBatch(const WriteBatch& batch, WriteNeeds* needs) {
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
    if (s.ok()) s = CheckFamily(record.family);
    if (!s.ok()) return s;
    if (record.type != ValueType::kDeletion) needs->only_deletes = false;
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

Status DBImpl::Delete(const WriteOptions& options, const Slice& key) {
  Status s = CheckKeyBytes(key);
  return s.ok() ? WriteOne(options, default_family_, ValueType::kDeletion, key, Slice()) : s;
}

Status DBImpl::WriteOne(const WriteOptions& options, ColumnFamily* family, ValueType type, const Slice& key,
                        const Slice& value) {
  WriteNeeds needs(&family, 1);
  needs.payload_bytes = BatchRecordBytes(type, family->id, key, value);
  needs.uses_log = !options.disableWAL;
  needs.only_deletes = type == ValueType::kDeletion;
  const uint64_t payload_bytes = needs.payload_bytes;
  if (LogRecordBytes(payload_bytes) > sizes_.segment_bytes) {
    // It may need several parts.
    WriteBatch batch(kBatchHeaderBytes + payload_bytes);
    Status s = type == ValueType::kDeletion ? batch.Delete(key) : batch.Put(key, value);
    return s.ok() ? Write(options, &batch) : s;
  }
  MutexLock lock(&write_mutex_);
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
  WriteNeeds needs(&default_family_, 1);
  needs.uses_log = !options.disableWAL;
  Status s = CheckBatch(*batch, &needs);
  if (!s.ok()) return s;
  const Slice records(batch->Data().data() + kBatchHeaderBytes, batch->Data().size() - kBatchHeaderBytes);
  MutexLock lock(&write_mutex_);
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
  for (SequenceNumber sequence = first; !records.empty(); ++sequence) {
    BatchRecord record;
    const Status s = TakeBatchRecord(&records, &record);
    CHECK(s.ok());  // it was checked before it was logged
    default_family_->active_rep->Insert(record.key, MakeTag(sequence, record.type), record.value);
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
  if (!HasRoomForLarge(needs, use)) {
    return Status::NoSpace("write of " + std::to_string(needs.payload_bytes) + " bytes", name_);
  }
  const uint64_t payload_bytes = needs.uses_log ? needs.payload_bytes : 0;
  bool full = false;
  for (size_t i = 0; i < needs.family_count; ++i) full |= IsFull(needs.families[i]);
  if (full) return SwitchMemTables(needs.families, needs.family_count, payload_bytes, use);
  if (!wal_->Fits(payload_bytes)) {
    MutexLock lock(&mutex_);
    return SwitchSegment(payload_bytes, use);
  }
  return Status::OK();
}

// Whether the family wants a new memtable.
bool DBImpl::IsFull(ColumnFamily* family) const {
  const size_t entries = family->active_rep->entries();
  return (family->active_rep->ApproximateBytes() >= family->sizes.write_buffer_bytes && entries != 0) ||
         family->reads->scans.WantsFlush(entries);
}

// For its log record and its tables. What is smaller than a memtable is covered by the reserve.
bool DBImpl::HasRoomForLarge(const WriteNeeds& needs, ExtentAllocator::Use use) const {
  constexpr uint64_t kTableOverheadMax = 256 << 10;  // around a single large value: key, index, filter
  const ExtentAllocator& extents = *storage_->extents;
  uint64_t memtable_bytes = UINT64_MAX;
  uint64_t table_bytes = UINT64_MAX;
  for (size_t i = 0; i < needs.family_count; ++i) {
    memtable_bytes = std::min(memtable_bytes, needs.families[i]->sizes.write_buffer_bytes);
    table_bytes = std::min(table_bytes, needs.families[i]->sizes.table_bytes);
  }
  if (needs.payload_bytes <= memtable_bytes) return true;
  if (!extents.HasRoomInPieces(2 * needs.payload_bytes + needs.payload_bytes / 4, use)) return false;
  return needs.largest_value_bytes <= table_bytes ||
         extents.HasRoom(needs.largest_value_bytes + kTableOverheadMax, use);
}

// Freezes the active memtables that hold something, and starts new ones with one new log segment.
Status DBImpl::SwitchMemTables(ColumnFamily* const* families, size_t count, uint64_t payload_bytes,
                               ExtentAllocator::Use use) {
  MutexLock lock(&mutex_);
  Status s;
  for (size_t i = 0; s.ok() && i < count; ++i) s = WaitForMemTableRoom(*families[i]);
  if (s.ok()) s = SwitchSegment(payload_bytes, use);
  if (!s.ok()) return s;
  NoteUserShare();
  for (size_t i = 0; i < count; ++i) {
    if (families[i]->active_rep->entries() == 0) continue;
    memtable_bytes_at_switch_ -= families[i]->active_rep->ApproximateBytes();
    families[i]->FreezeMemTable(last_sequence_.load(std::memory_order_relaxed));
    families[i]->StartMemTable(wal_->segment().number);
    families[i]->InstallView();
  }
  UpdatePace();
  work_.SignalAll();
  return Status::OK();
}

// Waits until one more memtable may be frozen.
Status DBImpl::WaitForMemTableRoom(const ColumnFamily& family) {
  const auto room = [&family] {
    return family.frozen.size() + 1 < static_cast<size_t>(family.options.max_write_buffer_number);
  };
  if (room()) return Status::OK();
  const auto begin = std::chrono::steady_clock::now();
  while (!room() && background_error_.ok() && !FlushLacksSpace()) {
    work_.SignalAll();
    progress_.Wait(&mutex_);
  }
  const auto waited = std::chrono::steady_clock::now() - begin;
  stall_micros_ += std::chrono::duration_cast<std::chrono::microseconds>(waited).count();
  if (!background_error_.ok()) return background_error_;
  return room() ? Status::OK() : Status::NoSpace("memtables cannot be flushed", name_);
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
  if (s.ok()) LetGoOfOldLog();
  for (size_t i = spans.size(); i-- > 1;) {
    if (s.ok()) {
      next_segments_.push_back(spans[i]);
    } else {
      storage_->extents->Free(spans[i]);
    }
  }
  return s;
}

// At the start of a segment, between two writes: what is logged of the empty memtables from now on is in it. So
// a family that is not written to does not hold the log.
void DBImpl::LetGoOfOldLog() {
  for (const ColumnFamilyRef& family : families_) {
    if (family->active_rep->entries() == 0) family->active->first_segment = wal_->segment().number;
  }
}

// One span for a record of payload_bytes, of the usual size or, where free space is in small pieces, a
// smaller one; several for a large record that no piece holds. All or nothing.
Status DBImpl::AllocateSegments(uint64_t payload_bytes, ExtentAllocator::Use use, std::vector<Span>* spans) {
  const uint64_t record_bytes = LogRecordBytes(payload_bytes);
  const uint64_t usual = std::max(sizes_.segment_bytes, record_bytes);
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
  return record_bytes <= sizes_.segment_bytes ? s : AllocatePieces(record_bytes, use, spans);
}

Status DBImpl::AllocatePieces(uint64_t record_bytes, ExtentAllocator::Use use, std::vector<Span>* spans) {
  // More pieces would cost more than they are worth, and a line of the manifest each.
  constexpr uint64_t kPiecesMax = 128;
  const uint64_t piece_min = std::max(sizes_.segment_bytes, record_bytes / kPiecesMax);
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
