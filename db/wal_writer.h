// WalWriter: appends records to the segment in use (doc/FORMAT.md, "Log"). There is no tail pointer: recovery
// finds the end by checksums.
//
// A sync append, stores in order: 1. Stream the record. 2. Fence (the caller's Commit). CRASH before 2: any
// subset of the record's lines is there; its checksum fails and replay ends before it, or it is whole and
// counts. 2 is the step after which the write is durable.
//
// An append without sync is copied through the caches and not flushed: it survives a killed process. The next
// sync append, a new segment, or a clean close flushes it first, whichever thread wrote it (flush
// instructions reach the lines of all caches), and its fence covers it.
//
// Thread safety: none; the DB's write lock serialises all calls.
#pragma once

#include <cstdint>
#include <string>

#include "db/wal_format.h"
#include "pmem/pool.h"
#include "pmem/store.h"
#include "pmlsm/slice.h"
#include "pmlsm/status.h"
#include "pmlsm/types.h"

namespace pmlsm {

class WalWriter {
 public:
  WalWriter(Pool* pool, Medium medium, PersistCounters* counters);

  // All that was appended before must be durable: call Sync first. The segment is in the published manifest.
  void UseSegment(const SegmentRecord& segment);
  bool has_segment() const { return segment_.bytes != 0; }
  const SegmentRecord& segment() const { return segment_; }

  // Whether a record of this payload fits into the segment in use.
  bool Fits(uint64_t payload_bytes) const { return LogRecordBytes(payload_bytes) <= segment_.bytes - used_; }
  // The largest payload that fits.
  uint64_t room() const {
    const uint64_t left = segment_.bytes - used_;
    return left < sizeof(LogRecordHeader) ? 0 : left - sizeof(LogRecordHeader);
  }
  // The log position of the next record: the exact end of the log.
  uint64_t position() const { return segment_.base_position + used_; }

  // A place of payload_bytes in DRAM, for a record put together by the caller; valid until the next call.
  // Then AppendStaged writes it.
  char* Stage(uint64_t payload_bytes);
  // REQUIRES: Fits. The record is durable after Commit.
  void AppendStaged(SequenceNumber first_sequence, uint32_t count, bool sync);
  // The same for a payload that lies elsewhere; large ones are streamed from where they are.
  void Append(const Slice& payload, SequenceNumber first_sequence, uint32_t count, bool sync);

  // Ends a sync append: the fence. An error means that nothing is known about the record; the log is
  // unusable.
  Status Commit();
  // Makes everything appended durable.
  Status Sync();

 private:
  LogRecordHeader MakeHeader(const char* payload, uint64_t payload_bytes, SequenceNumber first_sequence,
                             uint32_t count) const;
  void Emit(const char* bytes, uint64_t count, bool sync);
  void FlushUnsynced();

  Pool* const pool_;
  Store store_;
  SegmentRecord segment_ = {};
  uint64_t used_ = 0;             // bytes of the segment
  uint64_t fenced_ = 0;           // bytes of the segment known durable
  uint64_t unflushed_begin_ = 0;  // [begin, end): appended without sync, not flushed yet
  uint64_t unflushed_end_ = 0;
  uint64_t staged_bytes_ = 0;
  std::string stage_;
};

}  // namespace pmlsm
