// The persistent layout of the write-ahead log (doc/FORMAT.md, "Log"). Constants, structs and the checksum
// rule only.
//
// The log is one byte string, addressed by log positions, cut into segments (manifest: SegmentRecord). A
// segment's span holds records, each starting at a multiple of kLogAlignment from the span's start, padded
// with zeros:
//
//   record := LogRecordHeader payload          payload := the records of a write batch
//   (db/write_batch_format.h)
//
// A batch for which no free piece of the pool is large enough comes in parts, one a segment, each filling its
// segment: all have the batch's first_sequence, all but the last have count 0, and only the last one makes
// the batch count.
//
// A record verifies only at its own log position of its own segment (salt), so that stale bytes of reused
// space, and user values that look like records, never pass.
#pragma once

#include <cstddef>
#include <cstdint>

#include "levels/manifest_format.h"
#include "util/hash.h"

namespace pmlsm {

// Whole cache lines: a record's stream never writes a line that an earlier record's fence made durable.
inline constexpr uint64_t kLogAlignment = 64;

struct LogRecordHeader {
  uint64_t checksum;        // of the payload; seed: salt, header_checksum, first_sequence
  uint64_t first_sequence;  // > last sequence of the record before it
  uint32_t payload_bytes;
  uint32_t count;            // sequence numbers the payload takes; 0: goes on in the next record
  uint32_t unfenced_lines;   // when it was built, the log was known durable up to (its position - 64 * this)
  uint32_t header_checksum;  // of first_sequence .. unfenced_lines, salt and position
};
static_assert(sizeof(LogRecordHeader) == 32);
static_assert(offsetof(LogRecordHeader, first_sequence) == 8);
static_assert(offsetof(LogRecordHeader, header_checksum) == 28);

inline constexpr uint64_t LogRecordBytes(uint64_t payload_bytes) {
  return (sizeof(LogRecordHeader) + payload_bytes + kLogAlignment - 1) / kLogAlignment * kLogAlignment;
}

inline uint32_t LogHeaderChecksum(const LogRecordHeader& header, uint64_t salt, uint64_t position) {
  return Checksum32(&header.first_sequence, 20, salt ^ (position * 0x9e3779b97f4a7c15ull));
}
inline uint64_t LogChecksum(const LogRecordHeader& header, const char* payload, uint64_t salt) {
  return Hash64(payload, header.payload_bytes,
                (salt << 32) ^ salt ^ header.header_checksum ^ header.first_sequence);
}

}  // namespace pmlsm
