// The log by its contract: what was appended comes back, a torn tail ends the log, damage is told from it.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "db/wal_reader.h"
#include "db/wal_writer.h"
#include "gtest/gtest.h"
#include "pmem/extent_allocator.h"
#include "pmem/test_dir.h"
#include "util/coding.h"
#include "util/random.h"

namespace pmlsm {
namespace {

constexpr uint64_t kSegmentBytes = 64 << 10;

struct Written {
  SequenceNumber first_sequence;
  uint32_t count;
  std::string payload;
  uint64_t place;  // in its segment
};

class WalTest : public testing::Test {
 protected:
  WalTest() {
    PoolOptions options;
    options.set_dir = dir_.Sub("db");
    options.create = true;
    options.max_pmem_bytes = uint64_t{32} << 20;
    options.extent_bytes = 16 << 10;
    options.client_bytes = 4096;
    CHECK(Pool::Open(options, &pool_).ok());
    extents_ = std::make_unique<ExtentAllocator>(pool_.get());
    writer_ = std::make_unique<WalWriter>(pool_.get(), pool_->medium(), &counters_);
    AddSegment(kSegmentBytes);
  }

  void AddSegment(uint64_t bytes) {
    Span span;
    CHECK(extents_->Allocate(bytes, ExtentAllocator::Use::kWrite, &span).ok());
    CHECK(writer_->Sync().ok());
    SegmentRecord segment = {};
    segment.number = segments_.size() + 1;
    segment.offset = span.offset;
    segment.bytes = span.bytes;
    segment.base_position = writer_->has_segment() ? writer_->position() : 0;
    segment.salt = 0x1234567890abcdefull * segment.number;
    segments_.push_back(segment);
    writer_->UseSegment(segment);
  }

  void Append(const std::string& payload, uint32_t count = 1, bool sync = true) {
    written_.push_back({next_, count, payload, writer_->position() - segments_.back().base_position});
    writer_->Append(payload, next_, count, sync);
    next_ += count;
    ASSERT_TRUE(!sync || writer_->Commit().ok());
  }

  // A byte of the last segment, unless another is asked for.
  char* At(uint64_t place, size_t segment = SIZE_MAX) {
    return pool_->Writable(segments_[std::min(segment, segments_.size() - 1)].offset + place);
  }
  void Spoil(const Written& record) { *At(record.place + sizeof(LogRecordHeader)) ^= 1; }

  // Expects that the first `records` written records come, and this end.
  void ExpectLog(size_t records, WalReader::End end, uint64_t clean_end = 0) {
    WalReader reader(pool_.get(), segments_, clean_end);
    WalReader::Record record;
    for (size_t i = 0; i < records; ++i) {
      ASSERT_TRUE(reader.Next(&record)) << i << ": " << reader.detail();
      EXPECT_EQ(record.first_sequence, written_[i].first_sequence);
      EXPECT_EQ(record.count, written_[i].count);
      ASSERT_EQ(record.payload.ToString(), written_[i].payload);
    }
    ASSERT_FALSE(reader.Next(&record)) << "record of sequence " << record.first_sequence;
    EXPECT_EQ(reader.end(), end) << reader.detail();
    ASSERT_FALSE(reader.Next(&record)) << "an end stays";
    end_position_ = reader.end_position();
    dropped_bytes_ = reader.dropped_bytes();
    detail_ = reader.detail();
  }

  // A batch of two that takes three segments.
  void AppendParts() {
    std::string payload;
    Random random(1);
    while (payload.size() < 150000) payload.push_back(static_cast<char>(random.Next()));
    for (size_t at = 0; at < payload.size();) {
      const uint64_t part = std::min<uint64_t>(writer_->room(), payload.size() - at);
      const bool last = at + part == payload.size();
      writer_->Append(Slice(payload.data() + at, part), next_, last ? 2 : 0, true);
      ASSERT_TRUE(writer_->Commit().ok());
      at += part;
      if (!last) AddSegment(kSegmentBytes);
    }
    ASSERT_EQ(segments_.size(), 3u);
    written_.push_back({next_, 2, payload, 0});
    next_ += 2;
  }

  // Expects that just these written records are read if all damage is skipped.
  void ExpectBehindDamage(const std::vector<size_t>& records) {
    WalReader reader(pool_.get(), segments_, 0);
    std::vector<std::string> read;
    std::vector<std::string> wanted;
    for (const size_t i : records) wanted.push_back(written_[i].payload);
    do {
      for (WalReader::Record record; reader.Next(&record);) read.push_back(record.payload.ToString());
    } while (reader.SkipDamage());
    EXPECT_EQ(read, wanted);
    EXPECT_EQ(reader.end(), WalReader::End::kClean);
    EXPECT_EQ(reader.end_position(), writer_->position());
  }

  TestDir dir_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<ExtentAllocator> extents_;
  PersistCounters counters_;
  std::unique_ptr<WalWriter> writer_;
  std::vector<SegmentRecord> segments_;
  std::vector<Written> written_;
  SequenceNumber next_ = 1;
  uint64_t end_position_ = 0;
  uint64_t dropped_bytes_ = 0;
  std::string detail_;
};

TEST_F(WalTest, RecordsOfAllSizesComeBackInOrder) {
  for (size_t bytes = 0; bytes < 300; ++bytes) Append(std::string(bytes, 'a' + bytes % 26), 1 + bytes % 3);
  AddSegment(1 << 20);
  Append(std::string(500000, 'x'));  // streamed from where it is
  Append(std::string(65537, 'y'));
  Append("last");
  ExpectLog(written_.size(), WalReader::End::kClean);
  EXPECT_EQ(end_position_, writer_->position());
  EXPECT_EQ(dropped_bytes_, 0u);
  ExpectLog(written_.size(), WalReader::End::kClean, writer_->position());
}

TEST_F(WalTest, ALogWithoutRecordsIsClean) {
  ExpectLog(0, WalReader::End::kClean);
  EXPECT_EQ(end_position_, 0u);
  segments_.clear();
  ExpectLog(0, WalReader::End::kClean);
}

// The bytes that a record of this content must have, for ever: doc/FORMAT.md.
TEST_F(WalTest, GoldenBytes) {
  Append("k=v", 2);
  const auto header = LoadFixed<LogRecordHeader>(At(0));
  EXPECT_EQ(header.first_sequence, 1u);
  EXPECT_EQ(header.payload_bytes, 3u);
  EXPECT_EQ(header.count, 2u);
  EXPECT_EQ(header.unfenced_lines, 0u);
  EXPECT_EQ(header.header_checksum, 2427154756u);
  EXPECT_EQ(header.checksum, 18024118938541183521u);
  EXPECT_EQ(std::string(At(32), 32), std::string("k=v") + std::string(29, '\0'));
}

TEST_F(WalTest, ATornLastRecordEndsTheLogBeforeIt) {
  for (int i = 0; i < 20; ++i) Append("payload of record " + std::to_string(i) + std::string(200, 'p'));
  // Not yet fenced by anybody: any subset of its lines may be there.
  const Written last = written_.back();
  const uint64_t bytes = LogRecordBytes(last.payload.size());
  const std::string whole(At(last.place), bytes);
  const uint64_t lines = bytes / kLogAlignment;
  for (uint64_t subset = 0; subset + 1 < uint64_t{1} << lines; ++subset) {
    memset(At(last.place), 0xee, bytes);
    for (uint64_t line = 0; line < lines; ++line) {
      if ((subset >> line & 1) != 0) {
        memcpy(At(last.place + line * kLogAlignment), whole.data() + line * kLogAlignment, kLogAlignment);
      }
    }
    const bool header_there = (subset & 1) != 0;
    ExpectLog(19, header_there ? WalReader::End::kTornTail : WalReader::End::kClean);
    EXPECT_EQ(end_position_, segments_[0].base_position + last.place);
  }
}

TEST_F(WalTest, ADamagedRecordBehindWhichOthersVouchIsDamage) {
  for (int i = 0; i < 10; ++i) Append("record " + std::to_string(i));
  Spoil(written_[4]);
  ExpectLog(4, WalReader::End::kDamage);
  EXPECT_EQ(dropped_bytes_, 5 * kLogAlignment);
  EXPECT_NE(detail_.find("segment 1"), std::string::npos) << detail_;
  EXPECT_NE(detail_.find(std::to_string(written_[4].place)), std::string::npos) << detail_;
}

TEST_F(WalTest, ADamagedRecordThatWasInFlightWithTheOthersIsATornTail) {
  Append("durable");
  // No fence between these: none vouches for another.
  for (int i = 0; i < 5; ++i) {
    written_.push_back({next_, 1, "in flight", writer_->position()});
    writer_->Append(written_.back().payload, next_++, 1, true);
  }
  Spoil(written_[2]);
  ExpectLog(2, WalReader::End::kTornTail);
  EXPECT_EQ(dropped_bytes_, 3 * kLogAlignment);
}

TEST_F(WalTest, AfterACleanCloseEverythingShortOfTheEndIsDamage) {
  for (int i = 0; i < 5; ++i) Append("record " + std::to_string(i));
  Spoil(written_.back());
  ExpectLog(4, WalReader::End::kTornTail);
  ExpectLog(4, WalReader::End::kDamage, writer_->position());
}

TEST_F(WalTest, ASegmentBeforeTheNewestMustBeWhole) {
  for (int i = 0; i < 5; ++i) Append("first " + std::to_string(i));
  AddSegment(kSegmentBytes);
  for (int i = 0; i < 5; ++i) Append("second " + std::to_string(i));
  ExpectLog(10, WalReader::End::kClean);
  *At(written_[4].place + sizeof(LogRecordHeader), 0) ^= 1;
  ExpectLog(4, WalReader::End::kDamage);
  EXPECT_EQ(dropped_bytes_, 5 * kLogAlignment);
}

// Space is used again: what an older log left behind verifies neither in another segment nor at another place.
TEST_F(WalTest, StaleRecordsDoNotPass) {
  for (int i = 0; i < 50; ++i) Append("old " + std::to_string(i));
  SegmentRecord again = segments_[0];
  ++again.number;
  again.salt ^= 1;
  const std::vector<SegmentRecord> old = segments_;
  ASSERT_TRUE(writer_->Sync().ok());
  segments_ = {again};
  written_.clear();
  ExpectLog(0, WalReader::End::kClean);
  writer_->UseSegment(again);
  Append("new");
  ExpectLog(1, WalReader::End::kClean);

  // Moved by a line, or copied over its successor.
  memcpy(At(kLogAlignment), At(0), kLogAlignment);
  ExpectLog(1, WalReader::End::kClean);
}

TEST_F(WalTest, UnsyncedRecordsAreFlushedByTheNextSyncedOne) {
  const uint64_t lines = counters_.lines_flushed;
  for (int i = 0; i < 7; ++i) Append("unsynced " + std::to_string(i), 1, false);
  EXPECT_EQ(counters_.lines_flushed, lines);
  Append("synced");
  EXPECT_EQ(counters_.lines_flushed, lines + 8);
  ExpectLog(8, WalReader::End::kClean);
  // The synced record was built before its fence: it does not vouch for those before it.
  Spoil(written_[3]);
  ExpectLog(3, WalReader::End::kTornTail);
  Append("vouches");
  ExpectLog(3, WalReader::End::kDamage);
}

// A batch in several parts counts when its last part is there.
TEST_F(WalTest, PartsMakeOneRecord) {
  Append("before");
  AppendParts();
  Append("after");
  ExpectLog(3, WalReader::End::kClean);
  EXPECT_EQ(end_position_, writer_->position());

  const std::vector<SegmentRecord> all = segments_;
  const std::vector<Written> three = written_;
  for (size_t segments = 1; segments < 3; ++segments) {
    segments_.assign(all.begin(), all.begin() + segments);
    ExpectLog(1, WalReader::End::kTornTail);
    EXPECT_EQ(end_position_, kLogAlignment) << "the log ends before the first part";
    ExpectLog(1, WalReader::End::kDamage, all[segments].base_position);
  }
  segments_ = all;
  *At(sizeof(LogRecordHeader), 1) ^= 1;
  ExpectLog(1, WalReader::End::kDamage);
  EXPECT_EQ(end_position_, kLogAlignment);
}

TEST_F(WalTest, WhatFollowsDamageCanBeRead) {
  for (int i = 0; i < 10; ++i) Append("record " + std::to_string(i));
  AddSegment(kSegmentBytes);
  for (int i = 10; i < 15; ++i) Append("record " + std::to_string(i));
  for (const size_t i : {0, 4, 5, 9}) *At(written_[i].place + sizeof(LogRecordHeader), 0) ^= 1;
  ExpectBehindDamage({1, 2, 3, 6, 7, 8, 10, 11, 12, 13, 14});
}

// The rest of it would be taken for a batch of its own.
TEST_F(WalTest, PartsBehindADamagedPartAreLeftOut) {
  Append("before");
  AppendParts();
  Append("after");
  for (const size_t part : {0, 1, 2}) {
    const uint64_t place = (part == 0 ? kLogAlignment : 0) + sizeof(LogRecordHeader);
    *At(place, part) ^= 1;
    ExpectBehindDamage({0, 2});
    *At(place, part) ^= 1;
  }
  ExpectBehindDamage({0, 1, 2});
}

// No writer leaves that: a batch is logged whole before the next, and an unfinished one is beyond the log's end.
TEST_F(WalTest, APartThatAnotherBatchFollowsIsDamage) {
  Append("before");
  writer_->Append(std::string(writer_->room(), 'p'), next_, 0, true);
  ASSERT_TRUE(writer_->Commit().ok());
  ++next_;
  AddSegment(kSegmentBytes);
  Append("other");
  ExpectLog(1, WalReader::End::kDamage);
  EXPECT_EQ(end_position_, kLogAlignment) << "the log ends before the part";
  ExpectBehindDamage({0, 1});
}

// Whatever the bytes, the reader ends, and what it gives is a prefix of what was written.
TEST_F(WalTest, AnyFlippedByteGivesAPrefix) {
  Random random(2);
  for (int i = 0; i < 40; ++i) Append(std::string(random.Uniform(400), 'a' + i % 26), 1 + i % 4);
  const uint64_t used = writer_->position();
  for (uint64_t place = 0; place < used; ++place) {
    const char mask = static_cast<char>(1 << random.Uniform(8));
    *At(place) ^= mask;
    WalReader reader(pool_.get(), segments_, 0);
    WalReader::Record record;
    size_t records = 0;
    for (; reader.Next(&record); ++records) {
      ASSERT_LT(records, written_.size());
      ASSERT_EQ(record.payload.ToString(), written_[records].payload) << "flip at " << place;
      ASSERT_EQ(record.count, written_[records].count);
    }
    // Padding does not count; the last record has nobody to vouch for it.
    ASSERT_TRUE(records + 1 >= written_.size() || reader.end() == WalReader::End::kDamage) << place;
    *At(place) ^= mask;
  }
}

}  // namespace
}  // namespace pmlsm
