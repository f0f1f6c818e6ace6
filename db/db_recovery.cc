// Step 4 of an open (db_open.cc): the log is replayed into memtables. An entry counts if its family is in the manifest
// and has not flushed it yet.
#include <algorithm>
#include <cinttypes>

#include "db/db_impl.h"
#include "db/wal_reader.h"
#include "db/write_batch_format.h"
#include "util/check.h"

namespace pmlsm {

// Replayed memtables keep their segments in the manifest until they are flushed.
Status DBImpl::ReplayLog() {
  MutexLock write_lock(&write_mutex_);
  MutexLock lock(&mutex_);
  const uint64_t first_segment =
      state_.segments.empty() ? state_.next_segment_number : state_.segments[0].number;
  for (const ColumnFamilyRef& family : families_) family->StartMemTable(first_segment);

  WalReader reader(storage_->pool.get(), state_.segments, state_.clean_end);
  WalReader::Record record;
  uint64_t records = 0;
  SequenceNumber replayed_to = 0;
  uint64_t first_needed = UINT64_MAX;  // segments
  uint64_t last_read = 0;
  while (reader.Next(&record)) {
    bool applies = false;
    Status s = ReplayRecord(record.segment, record.first_sequence, record.payload, &applies);
    if (!s.ok()) return s;
    if (applies) {
      first_needed = std::min(first_needed, record.segment);
      ++records;
    }
    last_read = record.last_segment;
    replayed_to = record.first_sequence + record.count - 1;
    last_sequence_ = std::max(last_sequence_.load(), replayed_to);
  }
  // Exactly where the records that count end: the next open takes it for the end of the last of these
  // segments.
  log_end_ = state_.segments.empty() ? std::max(log_end_, state_.clean_end) : reader.end_position();
  log_->Write("log: %" PRIu64 " records replayed, %" PRIu64 " bytes behind the end dropped; %s", records,
              reader.dropped_bytes(),
              reader.end() == WalReader::End::kClean ? "whole" : reader.detail().c_str());

  const bool torn = reader.end() == WalReader::End::kTornTail;
  const bool damaged = reader.end() == WalReader::End::kDamage;
  const WALRecoveryMode mode = options_.wal_recovery_mode;
  if ((damaged && mode != WALRecoveryMode::kPointInTimeRecovery) ||
      (torn && mode == WALRecoveryMode::kAbsoluteConsistency)) {
    return Status::Corruption(
        "log", reader.detail() + ": record does not verify (wal_recovery_mode is " + ToString(mode) + ")");
  }
  if (damaged) {
    Status s = CheckFamiliesEndWithLog(replayed_to, reader.detail());
    if (!s.ok()) return s;
  }
  KeepSegments(first_needed, last_read);
  return Status::OK();
}

// Where point-in-time recovery stops, a family may have flushed what lies behind that point, while others lose it:
// that would be no state that the DB ever had.
Status DBImpl::CheckFamiliesEndWithLog(SequenceNumber replayed_to, const std::string& where) const {
  SequenceNumber end = UINT64_MAX;  // before the first record of the log: what all have flushed
  for (const FamilyState& family : state_.families) end = std::min(end, family.flushed_sequence);
  end = std::max(end, replayed_to);
  for (const ColumnFamilyRef& family : families_) {
    for (const Run* run : family->version->newest_first()) {
      if (run->sequence_max() <= end) continue;
      return Status::Corruption("log", where + ": record does not verify, and column family \"" +
                                           family->name +
                                           "\" has newer entries in its runs than others could get back");
    }
  }
  return Status::OK();
}

// From the first of which something was replayed to the last in which there is a record: in between, other families
// may need nothing, but the log must have no gap. Gone are those before and behind: empty ones, left by opens that did
// not write, and those behind the place where point-in-time recovery stopped. Step 5 publishes a manifest without
// them; until then nothing is written to their space.
void DBImpl::KeepSegments(uint64_t first, uint64_t last) {
  std::vector<SegmentRecord> kept;
  for (const SegmentRecord& segment : state_.segments) {
    if (segment.number >= first && segment.number <= last) {
      kept.push_back(segment);
    } else {
      storage_->extents->Free({segment.offset, segment.bytes});
    }
  }
  state_.segments = std::move(kept);
}

// What is in runs already, and what was of families that are dropped, is passed by.
Status DBImpl::ReplayRecord(uint64_t segment, SequenceNumber first_sequence, Slice records, bool* applies) {
  for (const ColumnFamilyRef& family : families_) {
    if (family->ActiveBytes() < family->sizes.write_buffer_bytes || family->active_rep->entries() == 0)
      continue;
    family->FreezeMemTable(first_sequence - 1);
    family->StartMemTable(segment);
  }
  for (SequenceNumber sequence = first_sequence; !records.empty(); ++sequence) {
    BatchRecord record;
    const Status s = TakeBatchRecord(&records, &record);
    CHECK(s.ok());  // it was checked before it was logged
    ColumnFamily* const family = FindLive(record.family);
    if (family == nullptr && record.family >= state_.next_family_id) {
      return Status::Corruption(
          "log", "a record is of column family " + std::to_string(record.family) + ", which there never was");
    }
    if (family == nullptr || sequence <= FindFamily(&state_, family->id)->flushed_sequence) continue;
    family->active_rep->Insert(record.key, MakeTag(sequence, record.type), record.value);
    *applies = true;
  }
  return Status::OK();
}

}  // namespace pmlsm
