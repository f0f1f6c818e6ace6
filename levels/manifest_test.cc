// The manifest by its contract: what was published comes back, in every failure-atomicity mode; damage is
// Corruption and never an older state; what cannot be loaded is not published.
#include "levels/manifest.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "pmem/test_dir.h"
#include "util/coding.h"
#include "util/hash.h"
#include "util/random.h"

namespace pmlsm {
namespace {

void ExpectSame(const ManifestState& a, const ManifestState& b) {
  EXPECT_EQ(a.generation, b.generation);
  EXPECT_EQ(a.last_sequence, b.last_sequence);
  EXPECT_EQ(a.next_run_number, b.next_run_number);
  EXPECT_EQ(a.next_table_number, b.next_table_number);
  EXPECT_EQ(a.next_segment_number, b.next_segment_number);
  EXPECT_EQ(a.clean_end, b.clean_end);
  ASSERT_EQ(a.segments.size(), b.segments.size());
  for (size_t i = 0; i < a.segments.size(); ++i) {
    EXPECT_EQ(a.segments[i].number, b.segments[i].number);
    EXPECT_EQ(a.segments[i].offset, b.segments[i].offset);
    EXPECT_EQ(a.segments[i].bytes, b.segments[i].bytes);
    EXPECT_EQ(a.segments[i].base_position, b.segments[i].base_position);
    EXPECT_EQ(a.segments[i].salt, b.segments[i].salt);
  }
  ASSERT_EQ(a.families.size(), b.families.size());
  for (size_t i = 0; i < a.families.size(); ++i) {
    EXPECT_EQ(a.families[i].id, b.families[i].id);
    EXPECT_EQ(a.families[i].name, b.families[i].name);
    EXPECT_EQ(a.families[i].comparator, b.families[i].comparator);
    EXPECT_EQ(a.families[i].oldest_segment, b.families[i].oldest_segment);
    EXPECT_EQ(a.families[i].flushed_sequence, b.families[i].flushed_sequence);
    EXPECT_EQ(a.families[i].levels, b.families[i].levels);
  }
}

// Two segments, a family of two levels of three slots.
ManifestState SmallState() {
  ManifestState state;
  state.generation = 0x10007;
  state.last_sequence = 0x1112131415161718;
  state.next_run_number = 0x21;
  state.next_table_number = 0x31;
  state.next_segment_number = 0x41;
  state.clean_end = 0x51;
  state.segments = {{0x61, 0x62000, 0x63000, 0x64, 0x65, 0}, {0x71, 0x72000, 0x73000, 0x74, 0x75, 0}};
  FamilyState family;
  family.comparator = "comparator";
  family.oldest_segment = 0x61;
  family.flushed_sequence = 0x81;
  family.levels = {{0x91000, 0x92000, 0}, {0, 0, 0x93000}};
  state.families = {family};
  return state;
}

ManifestState RandomState(Random* random) {
  ManifestState state;
  state.generation = random->Next();
  state.last_sequence = random->Next();
  state.next_run_number = random->Next();
  state.next_table_number = random->Next();
  state.next_segment_number = random->Next();
  state.clean_end = random->Next();
  for (uint64_t i = random->Uniform(6); i > 0; --i) {
    state.segments.push_back(
        {random->Next(), random->Next(), random->Next(), random->Next(), random->Next(), 0});
  }
  for (uint64_t i = random->Uniform(4); i > 0; --i) {
    FamilyState family;
    family.id = static_cast<uint32_t>(random->Next());
    family.name = std::string(random->Uniform(20), 'n');
    family.comparator = std::string(random->Uniform(64), 'c');
    family.oldest_segment = random->Next();
    family.flushed_sequence = random->Next();
    const uint64_t slots = 1 + random->Uniform(32);
    family.levels.assign(random->Uniform(17), std::vector<uint64_t>(slots));
    for (auto& level : family.levels) {
      for (uint64_t& run : level) run = random->Next();
    }
    state.families.push_back(family);
  }
  return state;
}

// ---- The bytes of a twin ----

// By doc/FORMAT.md, for twins that were changed on purpose.
void Seal(std::string* twin) {
  StoreFixed<uint32_t>(twin->data() + 12, 0);
  StoreFixed<uint32_t>(twin->data() + 12,
                       Checksum32(twin->data(), twin->size(), LoadFixed<uint64_t>(twin->data() + 16)));
}

TEST(ManifestCodecTest, DecodingGivesWhatWasEncoded) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const ManifestState state = RandomState(&random);
    ManifestState decoded;
    const Status s = DecodeManifest(EncodeManifest(state), &decoded);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_NO_FATAL_FAILURE(ExpectSame(decoded, state));
    ASSERT_FALSE(HasFailure());
  }
}

// The bytes that this state must have, for ever: doc/FORMAT.md.
TEST(ManifestCodecTest, GoldenBytes) {
  const std::string twin = EncodeManifest(SmallState());
  ASSERT_EQ(twin.size(), 128u + 2 * 48 + 40 + 8 + 16 + 2 * 3 * 8);
  const auto at8 = [&twin](size_t place) { return LoadFixed<uint64_t>(twin.data() + place); };
  const auto at4 = [&twin](size_t place) { return LoadFixed<uint32_t>(twin.data() + place); };
  EXPECT_EQ(twin.substr(0, 8), "mniafest");
  EXPECT_EQ(at4(8), 1u) << "format_version";
  EXPECT_EQ(at8(16), 0x10007u) << "generation";
  EXPECT_EQ(at8(24), twin.size()) << "bytes";
  EXPECT_EQ(at8(32), 0x1112131415161718u) << "last_sequence";
  EXPECT_EQ(at8(40), 0x21u) << "next_run_number";
  EXPECT_EQ(at8(48), 0x31u) << "next_table_number";
  EXPECT_EQ(at8(56), 0x41u) << "next_segment_number";
  EXPECT_EQ(at8(64), 0x51u) << "clean_end";
  EXPECT_EQ(at4(72), 2u) << "segments";
  EXPECT_EQ(at4(76), 1u) << "families";
  EXPECT_EQ(at4(80), 1u) << "next_family_id";
  EXPECT_EQ(twin.substr(84, 44), std::string(44, '\0'));
  const size_t second_segment = 128 + 48;
  EXPECT_EQ(at8(second_segment), 0x71u) << "number";
  EXPECT_EQ(at8(second_segment + 8), 0x72000u) << "offset";
  EXPECT_EQ(at8(second_segment + 16), 0x73000u) << "bytes";
  EXPECT_EQ(at8(second_segment + 24), 0x74u) << "base_position";
  EXPECT_EQ(at8(second_segment + 32), 0x75u) << "salt";
  EXPECT_EQ(at8(second_segment + 40), 0u);
  const size_t family = second_segment + 48;
  EXPECT_EQ(at4(family), 0u) << "id";
  EXPECT_EQ(at4(family + 4), 7u) << "name_bytes";
  EXPECT_EQ(at4(family + 8), 10u) << "comparator_bytes";
  EXPECT_EQ(at4(family + 12), 2u) << "levels";
  EXPECT_EQ(at4(family + 16), 3u) << "slots";
  EXPECT_EQ(at4(family + 20), 0u);
  EXPECT_EQ(at8(family + 24), 0x61u) << "oldest_segment";
  EXPECT_EQ(at8(family + 32), 0x81u) << "flushed_sequence";
  EXPECT_EQ(twin.substr(family + 40, 24), std::string("default\0comparator\0\0\0\0\0\0", 24));
  EXPECT_EQ(at8(family + 64), 0x91000u) << "level 0, slot 0";
  EXPECT_EQ(at8(family + 64 + 5 * 8), 0x93000u) << "level 1, slot 2";
  EXPECT_EQ(at4(12), 3016096693u) << "checksum";
  EXPECT_EQ(Hash64(twin.data(), twin.size()), 957454590643786327u) << "of all of it";
}

TEST(ManifestCodecTest, EveryTruncationIsRefused) {
  const std::string twin = EncodeManifest(SmallState());
  for (size_t bytes = 0; bytes < twin.size(); ++bytes) {
    ManifestState decoded;
    // A copy of its own, so that a sanitizer sees a read behind its end.
    const std::unique_ptr<char[]> copy(new char[bytes]);
    memcpy(copy.get(), twin.data(), bytes);
    ASSERT_TRUE(DecodeManifest(Slice(copy.get(), bytes), &decoded).IsCorruption()) << bytes;
  }
}

TEST(ManifestCodecTest, BytesBehindTheTwinDoNotCount) {
  ManifestState decoded;
  ASSERT_TRUE(DecodeManifest(EncodeManifest(SmallState()) + "stale", &decoded).ok());
  ExpectSame(decoded, SmallState());
}

TEST(ManifestCodecTest, AnotherFormatIsInvalidArgument) {
  std::string twin = EncodeManifest(SmallState());
  StoreFixed<uint32_t>(twin.data() + 8, 2);
  Seal(&twin);
  ManifestState decoded;
  EXPECT_TRUE(DecodeManifest(twin, &decoded).IsInvalidArgument());
}

// With a checksum that holds: a counter alone must not lead outside the twin.
TEST(ManifestCodecTest, CountsThatDoNotMatchTheBytesAreRefused) {
  const std::string twin = EncodeManifest(SmallState());
  constexpr size_t kFamily = 128 + 2 * 48;
  const size_t counters[] = {72, 76, kFamily + 4, kFamily + 8, kFamily + 12, kFamily + 16};
  for (const size_t place : counters) {
    const auto right = LoadFixed<uint32_t>(twin.data() + place);
    for (const uint32_t wrong : {0u, right + 8, right + 8000, 0x7fffffffu, 0xfffffff8u, 0xffffffffu}) {
      std::string changed = twin;
      StoreFixed<uint32_t>(changed.data() + place, wrong);
      Seal(&changed);
      ManifestState decoded;
      EXPECT_TRUE(DecodeManifest(changed, &decoded).IsCorruption()) << wrong << " at " << place;
    }
  }
}

// ---- Publish and Load ----

class ManifestTest : public testing::TestWithParam<FailureAtomicity> {
 protected:
  ManifestTest() { Open(kManifestAreaBytes); }

  void Close() {
    manifest_.reset();
    publisher_.reset();
    pool_.reset();
  }
  void Open(uint64_t client_bytes) {
    Close();
    PoolOptions options;
    options.set_dir = dir_.Sub("db");
    options.create = true;
    options.max_pmem_bytes = 16 << 20;
    options.extent_bytes = 16 << 10;
    options.client_bytes = client_bytes;
    options.snapshots = GetParam() == FailureAtomicity::kTransaction;
    CHECK(Pool::Open(options, &pool_).ok());
    publisher_ = Publisher::New(GetParam(), pool_.get());
    manifest_ = std::make_unique<Manifest>(pool_.get(), publisher_.get(), pool_->medium(), &counters_);
  }

  char* Area(uint64_t place) { return pool_->Writable(pool_->header().client_offset + place); }
  char* Twin(uint64_t generation) { return Area(256 + (generation % 2) * kManifestTwinBytes); }

  // A state that differs from those before it.
  ManifestState PublishNext() {
    state_.last_sequence += 1000;
    EXPECT_TRUE(manifest_->Publish(&state_).ok());
    return state_;
  }

  void ExpectLoads(const ManifestState& state) {
    ManifestState loaded;
    bool found = false;
    const Status s = Manifest::Load(*pool_, &loaded, &found);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_TRUE(found);
    ExpectSame(loaded, state);
  }
  bool LoadIsCorruption() {
    ManifestState loaded;
    bool found = false;
    return Manifest::Load(*pool_, &loaded, &found).IsCorruption();
  }
  void ExpectNotPublished(ManifestState state) {
    const ManifestState before = state_;
    const uint64_t generation = state.generation;
    const Status s = manifest_->Publish(&state);
    EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
    EXPECT_EQ(state.generation, generation);
    ASSERT_NO_FATAL_FAILURE(ExpectLoads(before));
  }

  TestDir dir_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<Publisher> publisher_;
  PersistCounters counters_;
  std::unique_ptr<Manifest> manifest_;
  ManifestState state_ = [] {
    ManifestState state = SmallState();
    state.generation = 0;
    return state;
  }();
};

TEST_P(ManifestTest, NothingIsFoundBeforeTheFirstPublish) {
  ManifestState loaded;
  bool found = true;
  ASSERT_TRUE(Manifest::Load(*pool_, &loaded, &found).ok());
  EXPECT_FALSE(found);
}

TEST_P(ManifestTest, WhatWasPublishedLastComesBack) {
  Random random(2);
  for (uint64_t generation = kFirstGeneration; generation < kFirstGeneration + 20; ++generation) {
    ManifestState next = RandomState(&random);
    next.generation = state_.generation;
    state_ = next;
    ASSERT_TRUE(manifest_->Publish(&state_).ok());
    ASSERT_EQ(state_.generation, generation);
    ASSERT_NO_FATAL_FAILURE(ExpectLoads(state_));
    Open(kManifestAreaBytes);
    ASSERT_NO_FATAL_FAILURE(ExpectLoads(state_));
  }
}

// doc/FORMAT.md: where the twins lie, and the word.
TEST_P(ManifestTest, TheWordNamesTheGenerationAndItsParityTheTwin) {
  PublishNext();
  EXPECT_EQ(LoadFixed<uint64_t>(Area(0)), 0xa400000000010000u);
  EXPECT_EQ(std::string(Area(256), EncodeManifest(state_).size()), EncodeManifest(state_));
  PublishNext();
  EXPECT_EQ(LoadFixed<uint64_t>(Area(0)), 0xa500000000010001u);
  EXPECT_EQ(std::string(Area(256 + (64 << 10)), EncodeManifest(state_).size()), EncodeManifest(state_));
}

TEST_P(ManifestTest, AnyDamagedByteOfTheTwinInForceIsCorruption) {
  for (int publishes = 1; publishes <= 3; ++publishes) {
    PublishNext();
    char* const twin = Twin(state_.generation);
    const size_t bytes = EncodeManifest(state_).size();
    for (size_t place = 0; place < bytes; ++place) {
      for (const uint8_t mask : {0x01, 0x10, 0x80, 0xff}) {
        twin[place] ^= mask;
        ASSERT_TRUE(LoadIsCorruption()) << "byte " << place << ", mask " << int{mask};
        twin[place] ^= mask;
      }
    }
    ASSERT_NO_FATAL_FAILURE(ExpectLoads(state_));
  }
}

TEST_P(ManifestTest, AnyDamagedByteOfTheWordIsCorruption) {
  for (int publishes = 1; publishes <= 4; ++publishes) {
    PublishNext();
    for (size_t place = 0; place < sizeof(uint64_t); ++place) {
      for (int mask = 1; mask < 256; ++mask) {
        *Area(place) ^= static_cast<char>(mask);
        ASSERT_TRUE(LoadIsCorruption())
            << "generation " << state_.generation << ", byte " << place << ", mask " << mask;
        *Area(place) ^= static_cast<char>(mask);
      }
    }
    ASSERT_NO_FATAL_FAILURE(ExpectLoads(state_));
  }
}

// The twin of that generation holds the one before the last, whole.
TEST_P(ManifestTest, AWordThatNamesAGenerationThatWasNotWrittenIsCorruption) {
  PublishNext();
  PublishNext();
  StoreFixed<uint64_t>(Area(0), 0xa600000000010002u);
  EXPECT_TRUE(LoadIsCorruption());
  PublishNext();
  EXPECT_EQ(LoadFixed<uint64_t>(Area(0)), 0xa600000000010002u) << "the word that was right too early";
  ASSERT_NO_FATAL_FAILURE(ExpectLoads(state_));
}

// As if nothing had ever been published; the twins tell otherwise.
TEST_P(ManifestTest, AWordOfZeroAfterTheSecondPublishIsCorruption) {
  PublishNext();
  PublishNext();
  StoreFixed<uint64_t>(Area(0), 0);
  EXPECT_TRUE(LoadIsCorruption());
}

TEST_P(ManifestTest, DamageOfTheOtherTwinDoesNoHarm) {
  Random random(3);
  for (int publishes = 1; publishes <= 4; ++publishes) {
    PublishNext();
    char* const other = Twin(state_.generation + 1);
    for (uint64_t i = 0; i < kManifestTwinBytes; ++i) other[i] = static_cast<char>(random.Next());
    ASSERT_NO_FATAL_FAILURE(ExpectLoads(state_));
  }
}

// CRASH before the word: any part of the new twin may be there.
TEST_P(ManifestTest, ATwinWhoseWordIsMissingIsNotRead) {
  for (int publishes = 1; publishes <= 2; ++publishes) {
    PublishNext();
    ManifestState next = state_;
    ++next.generation;
    next.last_sequence = 5;
    const std::string twin = EncodeManifest(next);
    for (size_t bytes = 0; bytes <= twin.size(); bytes += 8) {
      memcpy(Twin(next.generation), twin.data(), bytes);
      ASSERT_NO_FATAL_FAILURE(ExpectLoads(state_));
    }
  }
}

TEST_P(ManifestTest, AStateThatFillsTheTwinIsPublished) {
  PublishNext();
  state_.segments.clear();
  const size_t rest = kManifestTwinBytes - EncodeManifest(state_).size() + 6 * sizeof(uint64_t);
  state_.families[0].levels.assign(2, std::vector<uint64_t>(rest / 16, 0x1000));
  ASSERT_EQ(EncodeManifest(state_).size(), kManifestTwinBytes);
  ASSERT_TRUE(manifest_->Publish(&state_).ok());
  ASSERT_NO_FATAL_FAILURE(ExpectLoads(state_));
}

TEST_P(ManifestTest, AStateThatDoesNotFitLeavesTheOldOneInForce) {
  for (int publishes = 1; publishes <= 2; ++publishes) {
    PublishNext();
    ManifestState large = state_;
    large.families[0].levels.assign(16, std::vector<uint64_t>(512));
    ExpectNotPublished(large);
    large = state_;
    large.segments.resize(2000);
    ExpectNotPublished(large);
  }
  PublishNext();
  ASSERT_NO_FATAL_FAILURE(ExpectLoads(state_));
}

// They fit, but Load would refuse them.
TEST_P(ManifestTest, LevelsThatTheFormatDoesNotAllowAreNotPublished) {
  PublishNext();
  ManifestState state = state_;
  state.families[0].levels.assign(17, std::vector<uint64_t>(3));
  ExpectNotPublished(state);
  state.families[0].levels.assign(1, std::vector<uint64_t>(4097));
  ExpectNotPublished(state);
  state.families[0].levels = {{1, 2, 3}, {4, 5}};
  ExpectNotPublished(state);
  state.families[0].levels.assign(1, std::vector<uint64_t>(4096));
  EXPECT_TRUE(manifest_->Publish(&state).ok());
  ASSERT_NO_FATAL_FAILURE(ExpectLoads(state));
}

TEST_P(ManifestTest, AnAreaThatIsTooSmallIsCorruption) {
  Close();
  TestDir::Run("rm -r " + dir_.Sub("db"));
  Open(kManifestAreaBytes - 256);
  EXPECT_TRUE(LoadIsCorruption());
}

std::string ModeName(const testing::TestParamInfo<FailureAtomicity>& info) {
  switch (info.param) {
    case FailureAtomicity::kTransaction:
      return "Transaction";
    case FailureAtomicity::kIndividual:
      return "Individual";
    case FailureAtomicity::kAtomic:
      return "Atomic";
  }
  return "";
}

INSTANTIATE_TEST_SUITE_P(, ManifestTest,
                         testing::Values(FailureAtomicity::kTransaction, FailureAtomicity::kIndividual,
                                         FailureAtomicity::kAtomic),
                         ModeName);

}  // namespace
}  // namespace pmlsm
