// WalReader: walks the records of the live segments in order (doc/FORMAT.md, "Log") and tells a torn tail
// from damage.
//
// Rules: 1. Every segment but the newest must be whole up to its successor's base position: it was fenced
// before the successor took a record. 2. In the newest, records end at the first place that does not verify.
// If a record behind that place verifies and vouches (unfenced_lines) that the log was durable past it, the
// place is damage, otherwise it is the torn tail of writes that were in flight together, and nothing behind
// it counts. 3. After a clean close the end is known exactly, and anything short of it is damage.
//
// A record may come in several parts (wal_format.h); Next puts them together.
//
// For salvage, SkipDamage goes on behind damage: the rules above then hold for what follows. A record there that
// may be a later part of one whose first part is lost is left out.
//
// Thread safety: one thread. Reads the pool in place; slices point into it, or, for a record of several
// parts, into the reader until the next call.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "db/wal_format.h"
#include "pmem/pool.h"
#include "pmlsm/slice.h"
#include "pmlsm/status.h"
#include "pmlsm/types.h"

namespace pmlsm {

class WalReader {
 public:
  struct Record {
    uint64_t segment = 0;       // number
    uint64_t last_segment = 0;  // another one for a record of several parts
    uint64_t position = 0;      // log position
    SequenceNumber first_sequence = 0;
    uint32_t count = 0;
    Slice payload;
  };
  enum class End {
    kClean,     // where a clean close left off, or nothing is behind the last record
    kTornTail,  // a half-written record is, or records that were in flight together with it
    kDamage,    // something durable does not verify
  };

  // `clean_end` as in ManifestHeader.
  WalReader(const Pool* pool, std::vector<SegmentRecord> segments, uint64_t clean_end)
      : WalReader(pool->base(), std::move(segments), clean_end) {}
  // `base`: where the pool's first byte lies. All of the segments can be read.
  WalReader(const char* base, std::vector<SegmentRecord> segments, uint64_t clean_end);

  // False at the end; then end() and detail() tell why.
  bool Next(Record* record);

  // REQUIRES: Next has returned false, and end() is kDamage, or the caller knows that what looks like a torn
  // tail is damage. True, and Next goes on at the first record behind it that verifies, if there is one. What is
  // read then is not all of history up to some point.
  bool SkipDamage();

  End end() const { return end_; }
  // What and where, for kDamage and kTornTail.
  const std::string& detail() const { return detail_; }
  // Log position behind the last record that counts; 0 if there is no segment.
  uint64_t end_position() const { return end_position_; }
  // Log position of what does not verify: end_position(), but for damage in a later part of a record.
  uint64_t damage_position() const { return damage_position_; }
  // Bytes behind the end that still hold records that verify.
  uint64_t dropped_bytes() const { return dropped_bytes_; }

 private:
  bool NextPart(Record* record);
  void DropParts();
  bool MayBeLaterPart(size_t index, uint64_t place) const;
  bool HeaderVerifies(const SegmentRecord& segment, uint64_t place) const;
  bool Parse(const SegmentRecord& segment, uint64_t place, Record* record, uint64_t* durable_up_to) const;
  uint64_t SegmentEnd() const;
  void Finish();

  const char* const base_;
  const std::vector<SegmentRecord> segments_;
  const uint64_t clean_end_;
  size_t index_ = 0;        // of the segment
  uint64_t place_ = 0;      // in the segment
  bool resumable_ = false;  // behind the end, at these two, is a record that verifies
  size_t resume_index_ = 0;
  uint64_t resume_place_ = 0;
  SequenceNumber next_sequence_ = 0;  // at least
  bool in_parts_ = false;
  Record first_part_;
  std::string whole_;  // the parts so far
  End end_ = End::kClean;
  std::string detail_;
  uint64_t end_position_ = 0;
  uint64_t damage_position_ = 0;
  uint64_t dropped_bytes_ = 0;
};

}  // namespace pmlsm
