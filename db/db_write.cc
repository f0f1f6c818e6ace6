// The put path: check, make room, log, insert, fence, show. A write's stores to PMem are those of WalWriter;
// the fence comes after the memtable insert, so that the record is on its way to the medium while the index
// is searched. The entry stays invisible until last_sequence_ covers it, which happens after the fence.
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

// All that can be wrong with a batch, before the first byte is logged.
Status CheckBatch(const WriteBatch& batch, bool* only_deletes) {
  const std::string& rep = batch.Data();
  if (rep.size() < kBatchHeaderBytes) return Status::Corruption("write batch", "shorter than its header");
  if (rep.size() > kMaxBatchBytes) {
    return Status::InvalidArgument("write batch of " + std::to_string(rep.size()) + " bytes",
                                   "must have at most " + std::to_string(kMaxBatchBytes));
  }
  Slice records(rep.data() + kBatchHeaderBytes, rep.size() - kBatchHeaderBytes);
  uint32_t count = 0;
  *only_deletes = true;
  for (; !records.empty(); ++count) {
    BatchRecord record;
    Status s = TakeBatchRecord(&records, &record);
    if (s.ok()) s = CheckKeyBytes(record.key);
    if (s.ok()) s = CheckValueBytes(record.value);
    if (s.ok() && record.family != kDefaultFamily) {
      s = Status::InvalidArgument("write batch",
                                  "column family " + std::to_string(record.family) + " does not exist");
    }
    if (!s.ok()) return s;
    if (record.type != ValueType::kDeletion) *only_deletes = false;
  }
  if (count != batch.Count()) return Status::Corruption("write batch", "count differs from its records");
  return Status::OK();
}

}  // namespace

Status DBImpl::Put(const WriteOptions& options, const Slice& key, const Slice& value) {
  Status s = CheckKeyBytes(key);
  if (s.ok()) s = CheckValueBytes(value);
  return s.ok() ? WriteOne(options, ValueType::kValue, key, value) : s;
}

Status DBImpl::Delete(const WriteOptions& options, const Slice& key) {
  Status s = CheckKeyBytes(key);
  return s.ok() ? WriteOne(options, ValueType::kDeletion, key, Slice()) : s;
}

Status DBImpl::WriteOne(const WriteOptions& options, ValueType type, const Slice& key, const Slice& value) {
  const uint64_t payload_bytes = BatchRecordBytes(type, kDefaultFamily, key, value);
  MutexLock lock(&write_mutex_);
  Status s = PrepareWrite(payload_bytes, !options.disableWAL, type == ValueType::kDeletion);
  if (!s.ok()) return s;
  const SequenceNumber sequence = last_sequence_.load(std::memory_order_relaxed) + 1;
  if (!options.disableWAL) {
    StoreBatchRecord(wal_->Stage(payload_bytes), type, kDefaultFamily, key, value);
    wal_->AppendStaged(sequence, 1, options.sync);
  }
  active_rep_->Insert(key, MakeTag(sequence, type), value);
  user_bytes_written_.store(user_bytes_written_.load(std::memory_order_relaxed) + key.size() + value.size(),
                            std::memory_order_relaxed);
  return FinishWrite(sequence, options.sync && !options.disableWAL);
}

Status DBImpl::Write(const WriteOptions& options, WriteBatch* batch) {
  if (batch == nullptr) return Status::InvalidArgument("write batch = null", "must be a batch");
  bool only_deletes = false;
  Status s = CheckBatch(*batch, &only_deletes);
  if (!s.ok()) return s;
  const Slice records(batch->Data().data() + kBatchHeaderBytes, batch->Data().size() - kBatchHeaderBytes);
  MutexLock lock(&write_mutex_);
  s = PrepareWrite(records.size(), !options.disableWAL, only_deletes);
  if (!s.ok() || records.empty()) return s;
  const SequenceNumber first = last_sequence_.load(std::memory_order_relaxed) + 1;
  if (!options.disableWAL) wal_->Append(records, first, batch->Count(), options.sync);
  InsertBatch(records, first);
  user_bytes_written_.store(user_bytes_written_.load(std::memory_order_relaxed) + records.size(),
                            std::memory_order_relaxed);
  return FinishWrite(first + batch->Count() - 1, options.sync && !options.disableWAL);
}

void DBImpl::InsertBatch(Slice records, SequenceNumber first) {
  for (SequenceNumber sequence = first; !records.empty(); ++sequence) {
    BatchRecord record;
    const Status s = TakeBatchRecord(&records, &record);
    CHECK(s.ok());  // it was checked before it was logged
    active_rep_->Insert(record.key, MakeTag(sequence, record.type), record.value);
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

// After OK, a record of payload_bytes has room in the log and the memtable. Changes nothing if it answers
// NoSpace.
Status DBImpl::PrepareWrite(uint64_t payload_bytes, bool uses_log, bool only_deletes) {
  if (write_blocked_.load(std::memory_order_relaxed)) {
    MutexLock lock(&mutex_);
    return closed_ ? Status::Aborted("DB is closed", name_) : background_error_;
  }
  if (!uses_log) unlogged_writes_ = true;
  const auto use = only_deletes ? ExtentAllocator::Use::kBackground : ExtentAllocator::Use::kWrite;
  if (payload_bytes > sizes_.write_buffer_bytes &&
      !storage_->extents->HasRoom(2 * payload_bytes + payload_bytes / 4, use)) {
    // Its log record and its tables; what is smaller is covered by the reserve.
    return Status::NoSpace("write of " + std::to_string(payload_bytes) + " bytes", name_);
  }
  if (active_rep_->ApproximateBytes() >= sizes_.write_buffer_bytes && active_rep_->entries() != 0) {
    return SwitchMemTable(payload_bytes, use);
  }
  if (uses_log && !wal_->Fits(payload_bytes)) {
    MutexLock lock(&mutex_);
    return SwitchSegment(payload_bytes, use);
  }
  return Status::OK();
}

// Freezes the active memtable and starts a new one with a new log segment.
Status DBImpl::SwitchMemTable(uint64_t payload_bytes, ExtentAllocator::Use use) {
  MutexLock lock(&mutex_);
  Status s = WaitForMemTableRoom();
  if (s.ok()) s = SwitchSegment(payload_bytes, use);
  if (!s.ok()) return s;
  active_->largest_sequence = last_sequence_.load(std::memory_order_relaxed);
  frozen_.insert(frozen_.begin(), active_);
  active_ = std::make_shared<MemTable>(options_.memtable, options_.comparator, wal_->segment().number);
  active_rep_ = active_->rep.get();
  InstallView();
  work_.SignalAll();
  return Status::OK();
}

// Waits until one more memtable may be frozen.
Status DBImpl::WaitForMemTableRoom() {
  const auto room = [this]() NO_THREAD_SAFETY_ANALYSIS {
    return frozen_.size() + 1 < static_cast<size_t>(options_.max_write_buffer_number);
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

// Goes on in a new log segment that has room for payload_bytes. Steps: 1. Make the old segment durable. 2.
// Publish a manifest that names the new one, with a salt of its own. 3. Use it. CRASH before 2: the space is
// free.
Status DBImpl::SwitchSegment(uint64_t payload_bytes, ExtentAllocator::Use use) {
  const uint64_t bytes = std::max(sizes_.segment_bytes, LogRecordBytes(payload_bytes));
  Span span;
  if (!spare_segments_.empty() && bytes <= spare_segments_.back().bytes) {
    span = spare_segments_.back();
    spare_segments_.pop_back();
  } else {
    Status s = storage_->extents->Allocate(bytes, use, &span);
    if (!s.ok()) {
      merge_for_space_ = true;
      work_.SignalAll();
      return s;
    }
  }
  Status s = wal_->Sync();  // 1
  if (!s.ok()) {
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
  s = PublishState(version_, &next);  // 2
  if (!s.ok()) {
    storage_->extents->Free(span);
    return s;
  }
  wal_->UseSegment(segment);  // 3
  work_.SignalAll();          // to get the next one ready
  return Status::OK();
}

}  // namespace pmlsm
