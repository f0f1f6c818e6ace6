#include "db/wal_writer.h"

#include <algorithm>
#include <cstring>

#include "util/check.h"

namespace pmlsm {
namespace {

// Larger payloads are streamed from the caller's memory instead of being copied to the stage first.
constexpr uint64_t kStageBytesMax = 64 << 10;

}  // namespace

WalWriter::WalWriter(Pool* pool, Medium medium, PersistCounters* counters)
    : pool_(pool), store_(medium, counters) {}

void WalWriter::UseSegment(const SegmentRecord& segment) {
  CHECK(fenced_ == used_);
  segment_ = segment;
  used_ = fenced_ = unflushed_begin_ = unflushed_end_ = 0;
}

char* WalWriter::Stage(uint64_t payload_bytes) {
  staged_bytes_ = payload_bytes;
  const uint64_t record_bytes = LogRecordBytes(payload_bytes);
  if (stage_.size() < record_bytes) stage_.resize(record_bytes);
  // The padding of the last line.
  memset(stage_.data() + record_bytes - kLogAlignment, 0, kLogAlignment);
  return stage_.data() + sizeof(LogRecordHeader);
}

LogRecordHeader WalWriter::MakeHeader(const char* payload, uint64_t payload_bytes,
                                      SequenceNumber first_sequence, uint32_t count) const {
  LogRecordHeader header = {};
  header.first_sequence = first_sequence;
  header.payload_bytes = static_cast<uint32_t>(payload_bytes);
  header.count = count;
  header.unfenced_lines =
      static_cast<uint32_t>(std::min<uint64_t>((used_ - fenced_) / kLogAlignment, UINT32_MAX));
  header.header_checksum = LogHeaderChecksum(header, segment_.salt, position());
  header.checksum = LogChecksum(header, payload, segment_.salt);
  return header;
}

void WalWriter::AppendStaged(SequenceNumber first_sequence, uint32_t count, bool sync) {
  DCHECK(Fits(staged_bytes_));
  if (sync) FlushUnsynced();
  const LogRecordHeader header =
      MakeHeader(stage_.data() + sizeof(LogRecordHeader), staged_bytes_, first_sequence, count);
  memcpy(stage_.data(), &header, sizeof(header));
  Emit(stage_.data(), LogRecordBytes(staged_bytes_), sync);
}

void WalWriter::Append(const Slice& payload, SequenceNumber first_sequence, uint32_t count, bool sync) {
  if (payload.size() <= kStageBytesMax) {
    memcpy(Stage(payload.size()), payload.data(), payload.size());
    AppendStaged(first_sequence, count, sync);
    return;
  }
  DCHECK(Fits(payload.size()));
  if (sync) FlushUnsynced();
  // The first line (header and the payload's beginning), the whole lines between, the padded last line.
  const LogRecordHeader header = MakeHeader(payload.data(), payload.size(), first_sequence, count);
  char line[kLogAlignment] = {};
  const uint64_t first = kLogAlignment - sizeof(header);
  memcpy(line, &header, sizeof(header));
  memcpy(line + sizeof(header), payload.data(), first);
  Emit(line, kLogAlignment, sync);
  const uint64_t whole = (payload.size() - first) / kLogAlignment * kLogAlignment;
  Emit(payload.data() + first, whole, sync);
  const uint64_t rest = payload.size() - first - whole;
  if (rest == 0) return;
  memset(line, 0, sizeof(line));
  memcpy(line, payload.data() + first + whole, rest);
  Emit(line, kLogAlignment, sync);
}

void WalWriter::Emit(const char* bytes, uint64_t count, bool sync) {
  char* const to = pool_->Writable(segment_.offset + used_);
  if (sync) {
    store_.Stream(to, bytes, count);
  } else {
    store_.Copy(to, bytes, count);
    if (unflushed_begin_ == unflushed_end_) unflushed_begin_ = used_;
    unflushed_end_ = used_ + count;
  }
  used_ += count;
}

void WalWriter::FlushUnsynced() {
  if (unflushed_begin_ == unflushed_end_) return;
  store_.FlushLines(pool_->At(segment_.offset + unflushed_begin_), unflushed_end_ - unflushed_begin_);
  unflushed_begin_ = unflushed_end_ = 0;
}

Status WalWriter::Commit() {
  Status s = store_.Fence();
  if (s.ok()) fenced_ = used_;
  return s;
}

Status WalWriter::Sync() {
  if (fenced_ == used_) return Status::OK();
  FlushUnsynced();
  return Commit();
}

}  // namespace pmlsm
