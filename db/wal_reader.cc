#include "db/wal_reader.h"

#include <algorithm>
#include <utility>

#include "util/coding.h"

namespace pmlsm {

WalReader::WalReader(const char* base, std::vector<SegmentRecord> segments, uint64_t clean_end)
    : base_(base), segments_(std::move(segments)), clean_end_(clean_end) {}

bool WalReader::Next(Record* record) {
  while (NextPart(record)) {
    if (!in_parts_ && record->count != 0) return true;
    if (!in_parts_) {
      in_parts_ = true;
      first_part_ = *record;
      whole_.clear();
    }
    if (record->first_sequence != first_part_.first_sequence) {
      // Its segment was begun after all of the segment before it was durable. It counts if damage is skipped.
      place_ -= LogRecordBytes(record->payload.size());
      next_sequence_ = record->first_sequence;
      const size_t index = index_;
      const uint64_t place = place_;
      Finish();
      end_ = End::kDamage;
      resumable_ = true;
      resume_index_ = index;
      resume_place_ = place;
      break;
    }
    whole_.append(record->payload.data(), record->payload.size());
    if (record->count == 0) continue;
    in_parts_ = false;
    record->segment = first_part_.segment;
    record->position = first_part_.position;
    record->payload = whole_;
    return true;
  }
  if (in_parts_) DropParts();
  return false;
}

// The log ends inside a record of several parts: the record does not count, and the log ends before it.
void WalReader::DropParts() {
  in_parts_ = false;
  if (end_ == End::kClean) end_ = clean_end_ == 0 ? End::kTornTail : End::kDamage;
  dropped_bytes_ += end_position_ - first_part_.position;
  end_position_ = first_part_.position;
}

bool WalReader::NextPart(Record* record) {
  while (index_ < segments_.size()) {
    const SegmentRecord& segment = segments_[index_];
    const bool newest = index_ + 1 == segments_.size();
    if (!newest && place_ == SegmentEnd()) {
      ++index_;
      place_ = 0;
      continue;
    }
    uint64_t durable_up_to;
    const bool known_end = !newest || clean_end_ != 0;
    if ((known_end && segment.base_position + place_ >= segment.base_position + SegmentEnd()) ||
        !Parse(segment, place_, record, &durable_up_to) || record->first_sequence < next_sequence_) {
      Finish();
      return false;
    }
    place_ += LogRecordBytes(record->payload.size());
    next_sequence_ = record->first_sequence + record->count;
    return true;
  }
  return false;
}

bool WalReader::SkipDamage() {
  if (!resumable_) return false;
  index_ = resume_index_;
  place_ = resume_place_;
  resumable_ = false;
  end_ = End::kClean;
  detail_.clear();
  dropped_bytes_ = 0;
  return true;
}

// Later parts start a segment, and all before them filled theirs.
bool WalReader::MayBeLaterPart(size_t index, uint64_t place) const {
  if (index == 0 || place != 0) return false;
  const SegmentRecord& before = segments_[index - 1];
  return segments_[index].base_position - before.base_position > before.bytes - kLogAlignment;
}

// Where the segment's records end for certain; its capacity if that is not known.
uint64_t WalReader::SegmentEnd() const {
  const SegmentRecord& segment = segments_[index_];
  if (index_ + 1 < segments_.size()) return segments_[index_ + 1].base_position - segment.base_position;
  return clean_end_ != 0 ? clean_end_ - segment.base_position : segment.bytes;
}

bool WalReader::HeaderVerifies(const SegmentRecord& segment, uint64_t place) const {
  if (place + sizeof(LogRecordHeader) > segment.bytes) return false;
  const auto header = LoadFixed<LogRecordHeader>(base_ + segment.offset + place);
  return header.header_checksum == LogHeaderChecksum(header, segment.salt, segment.base_position + place);
}

bool WalReader::Parse(const SegmentRecord& segment, uint64_t place, Record* record,
                      uint64_t* durable_up_to) const {
  if (!HeaderVerifies(segment, place)) return false;
  const char* const bytes = base_ + segment.offset + place;
  const auto header = LoadFixed<LogRecordHeader>(bytes);
  const uint64_t position = segment.base_position + place;
  if (header.payload_bytes > segment.bytes - place - sizeof(header)) return false;
  if (header.checksum != LogChecksum(header, bytes + sizeof(header), segment.salt)) return false;
  record->segment = record->last_segment = segment.number;
  record->position = position;
  record->first_sequence = header.first_sequence;
  record->count = header.count;
  record->payload = Slice(bytes + sizeof(header), header.payload_bytes);
  *durable_up_to = position - std::min(uint64_t{header.unfenced_lines} * kLogAlignment, place);
  return true;
}

// Nothing verifies at place_: finds out why, and leaves the reader at its end.
void WalReader::Finish() {
  const SegmentRecord& segment = segments_[index_];
  const uint64_t position = segment.base_position + place_;
  end_position_ = position;
  damage_position_ = position;
  detail_ = "segment " + std::to_string(segment.number) + ", log position " + std::to_string(position);
  const bool newest = index_ + 1 == segments_.size();
  const bool short_of_known_end = !newest || (clean_end_ != 0 && position != clean_end_);
  if (short_of_known_end) {
    end_ = End::kDamage;
  } else if (clean_end_ == 0 && HeaderVerifies(segment, place_)) {
    end_ = End::kTornTail;
  }
  // Records behind this place tell how much is dropped, and may vouch for it.
  const size_t damaged = index_;
  for (uint64_t place = place_; index_ < segments_.size(); ++index_, place = 0) {
    const SegmentRecord& later = segments_[index_];
    const uint64_t limit = SegmentEnd();
    while (place < limit) {
      Record record;
      uint64_t durable_up_to = 0;
      if (!Parse(later, place, &record, &durable_up_to)) {
        place += kLogAlignment;
        continue;
      }
      if (index_ == damaged && end_ != End::kDamage) {
        end_ = durable_up_to > position ? End::kDamage : End::kTornTail;
      }
      if (!resumable_ && record.first_sequence >= next_sequence_ && !MayBeLaterPart(index_, place)) {
        resumable_ = true;
        resume_index_ = index_;
        resume_place_ = place;
      }
      const uint64_t bytes = LogRecordBytes(record.payload.size());
      dropped_bytes_ += bytes;
      place += bytes;
    }
  }
  index_ = segments_.size();
}

}  // namespace pmlsm
