// Pmwcas by its contract: all words or none, for one thread and for many, and after a crash that left descriptors
// half done. Power failures: test/crash/pmwcas_crash_test.cc.
#include "primitives/pmwcas.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "util/random.h"

namespace pmlsm::primitives {
namespace {

constexpr uint64_t kSeed = 11;
constexpr uint32_t kWords = 16;
constexpr uint64_t kAreaOffset = 4096;

// The words, then the area.
class Memory {
 public:
  Memory() { memset(bytes_, 0, sizeof(bytes_)); }
  char* bytes() { return bytes_; }
  // A line each, and none at offset 0.
  uint64_t* Word(uint32_t i) { return reinterpret_cast<uint64_t*>(bytes_) + (i + 1) * 8; }
  uint64_t OffsetOf(uint32_t i) { return reinterpret_cast<char*>(Word(i)) - bytes_; }
  PmwcasDescriptor* Descriptor(uint32_t i) {
    return reinterpret_cast<PmwcasDescriptor*>(bytes_ + kAreaOffset) + i;
  }
  static constexpr uint64_t kBytes = kAreaOffset + Pmwcas::kAreaBytes;

 private:
  alignas(256) char bytes_[kBytes];
};

class PmwcasTest : public testing::Test {
 protected:
  PmwcasTest() : memory_(new Memory), pmwcas_(memory_->bytes(), Memory::kBytes, kAreaOffset) {}

  Status Recover() {
    Store store(Medium::kTmpfs, &counters_);
    return Pmwcas(memory_->bytes(), Memory::kBytes, kAreaOffset).Recover(&store);
  }

  const std::unique_ptr<Memory> memory_;
  PersistCounters counters_;
  Pmwcas pmwcas_;
};

TEST_F(PmwcasTest, AllWordsChangeIfAllHoldWhatIsExpected) {
  PmwcasThread thread(&pmwcas_, Medium::kTmpfs, &counters_);
  bool changed = false;
  for (uint64_t round = 0; round < 100; ++round) {  // each descriptor is used many times
    std::vector<Pmwcas::Change> changes;
    for (uint32_t i = 0; i < Pmwcas::kWordsMax; ++i) changes.push_back({memory_->Word(i), round, round + 1});
    ASSERT_TRUE(thread.Execute(changes.data(), Pmwcas::kWordsMax, &changed).ok());
    ASSERT_TRUE(changed);
  }
  for (uint32_t i = 0; i < kWords; ++i) {
    EXPECT_EQ(*memory_->Word(i), i < Pmwcas::kWordsMax ? 100u : 0u);
    EXPECT_EQ(thread.Read(memory_->Word(i)), *memory_->Word(i));
  }
}

TEST_F(PmwcasTest, NoWordChangesIfOneHoldsAnotherValue) {
  PmwcasThread thread(&pmwcas_, Medium::kTmpfs, &counters_);
  for (uint32_t other = 0; other < 3; ++other) {
    for (uint32_t i = 0; i < 3; ++i) *memory_->Word(i) = i == other ? 7 : 5;
    const Pmwcas::Change changes[] = {
        {memory_->Word(2), 5, 6}, {memory_->Word(0), 5, 6}, {memory_->Word(1), 5, 6}};
    bool changed = true;
    ASSERT_TRUE(thread.Execute(changes, 3, &changed).ok());
    EXPECT_FALSE(changed);
    for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(*memory_->Word(i), i == other ? 7u : 5u);
  }
}

TEST_F(PmwcasTest, AWordMayBeExpectedToStay) {
  PmwcasThread thread(&pmwcas_, Medium::kTmpfs, &counters_);
  const Pmwcas::Change changes[] = {{memory_->Word(0), 0, 0}, {memory_->Word(1), 0, 1}};
  bool changed = false;
  ASSERT_TRUE(thread.Execute(changes, 2, &changed).ok());
  EXPECT_TRUE(changed);
  EXPECT_EQ(*memory_->Word(0), 0u);
  EXPECT_EQ(*memory_->Word(1), 1u);
}

TEST_F(PmwcasTest, ThreeWordsCostFourStepsEachWithItsFence) {
  PmwcasThread thread(&pmwcas_, Medium::kTmpfs, &counters_);
  const Pmwcas::Change changes[] = {
      {memory_->Word(0), 0, 1}, {memory_->Word(1), 0, 1}, {memory_->Word(2), 0, 1}};
  bool changed = false;
  ASSERT_TRUE(thread.Execute(changes, 3, &changed).ok());
  const PersistCounts counts = Read(counters_);
  EXPECT_EQ(counts.fences, 4u);
  EXPECT_EQ(counts.lines_flushed, 4u + 3 + 1 + 3);  // descriptor, references, decision, values
}

// What threads do to the words adds up only if each change was whole: each adds one to three shared words and to a
// word of its own.
TEST_F(PmwcasTest, ChangesOfManyThreadsAreWhole) {
  constexpr int kThreads = 4;
  constexpr uint64_t kChanges = 2000;
  constexpr uint32_t kShared = 6;
  std::atomic<bool> reading{true};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      PmwcasThread thread(&pmwcas_, Medium::kTmpfs, &counters_);
      Random random(kSeed + t);
      uint64_t* const own = memory_->Word(kShared + t);
      for (uint64_t done = 0; done < kChanges;) {
        const auto first = static_cast<uint32_t>(random.Uniform(kShared));
        std::vector<Pmwcas::Change> changes;
        for (uint32_t i = 0; i < 3; ++i) {
          uint64_t* const word = memory_->Word((first + i) % kShared);
          const uint64_t now = thread.Read(word);
          changes.push_back({word, now, now + 1});
        }
        changes.push_back({own, done, done + 1});
        bool changed = false;
        ASSERT_TRUE(thread.Execute(changes.data(), 4, &changed).ok());
        done += changed;
      }
    });
  }
  std::thread reader([&] {
    PmwcasThread thread(&pmwcas_, Medium::kTmpfs, &counters_);
    uint64_t last[kWords] = {};
    while (reading.load()) {
      for (uint32_t i = 0; i < kWords; ++i) {
        const uint64_t now = thread.Read(memory_->Word(i));
        ASSERT_GE(now, last[i]);
        ASSERT_LE(now, kThreads * kChanges);
        last[i] = now;
      }
    }
  });
  for (std::thread& thread : threads) thread.join();
  reading.store(false);
  reader.join();
  uint64_t sum = 0;
  for (uint32_t i = 0; i < kShared; ++i) sum += *memory_->Word(i);
  EXPECT_EQ(sum, 3 * kThreads * kChanges);
  for (int t = 0; t < kThreads; ++t) EXPECT_EQ(*memory_->Word(kShared + t), kChanges);
}

// Two words go from equal to equal, over and over: the old value comes back, which is what install marks are for.
TEST_F(PmwcasTest, AnOldValueThatComesBackIsNotChangedTwice) {
  constexpr int kThreads = 3;
  constexpr int kRounds = 3000;
  std::atomic<uint64_t> successes{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      PmwcasThread thread(&pmwcas_, Medium::kTmpfs, &counters_);
      for (int round = 0; round < kRounds; ++round) {
        // Words 0 and 1 go 0, 1, 0, ...; word 2 + t counts.
        const uint64_t now = thread.Read(memory_->Word(0));
        const uint64_t count = thread.Read(memory_->Word(2 + t));
        const Pmwcas::Change changes[] = {{memory_->Word(0), now, 1 - now},
                                          {memory_->Word(1), now, 1 - now},
                                          {memory_->Word(2 + t), count, count + 1}};
        bool changed = false;
        ASSERT_TRUE(thread.Execute(changes, 3, &changed).ok());
        successes += changed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(*memory_->Word(0), *memory_->Word(1));
  EXPECT_EQ(*memory_->Word(0), successes.load() % 2);
  EXPECT_EQ(*memory_->Word(2) + *memory_->Word(3) + *memory_->Word(4), successes.load());
  EXPECT_GT(successes.load(), 0u);
}

// A descriptor as a crash leaves it: the first two words hold references, the third an install mark.
class PmwcasRecoveryTest : public PmwcasTest, public testing::WithParamInterface<PmwcasState> {
 protected:
  static constexpr uint32_t kDescriptor = 5;
  static constexpr uint64_t kVersion = 9;

  void LeaveHalfDone(PmwcasState state) {
    PmwcasDescriptor* const descriptor = memory_->Descriptor(kDescriptor);
    descriptor->status = PmwcasStatus(kVersion, state);
    descriptor->count = 3;
    for (uint32_t i = 0; i < 3; ++i) {
      descriptor->words[i] = {memory_->OffsetOf(i), 10 + i, 20 + i};
      *memory_->Word(i) = PmwcasReferenceTo(kDescriptor, kVersion);
    }
    *memory_->Word(2) =
        kPmwcasInstall | kVersion << kPmwcasVersionShift | 2 << kPmwcasWordShift | kDescriptor;
  }
};

TEST_P(PmwcasRecoveryTest, ReferencesGiveWayToWhatWasDecided) {
  LeaveHalfDone(GetParam());
  ASSERT_TRUE(Recover().ok());
  const uint64_t expected = GetParam() == PmwcasState::kSucceeded ? 20 : 10;
  EXPECT_EQ(*memory_->Word(0), expected);
  EXPECT_EQ(*memory_->Word(1), expected + 1);
  EXPECT_EQ(*memory_->Word(2), 12u);  // an install mark is no reference yet, or too late
  ASSERT_TRUE(Recover().ok());
  EXPECT_EQ(*memory_->Word(0), expected);
}

TEST_P(PmwcasRecoveryTest, ReferencesOfOtherVersionsAreNotTouched) {
  LeaveHalfDone(GetParam());
  *memory_->Word(0) = PmwcasReferenceTo(kDescriptor, kVersion + 1);
  *memory_->Word(1) = PmwcasReferenceTo(kDescriptor + 1, kVersion);
  ASSERT_TRUE(Recover().ok());
  EXPECT_EQ(*memory_->Word(0), PmwcasReferenceTo(kDescriptor, kVersion + 1));
  EXPECT_EQ(*memory_->Word(1), PmwcasReferenceTo(kDescriptor + 1, kVersion));
}

INSTANTIATE_TEST_SUITE_P(All, PmwcasRecoveryTest,
                         testing::Values(PmwcasState::kUndecided, PmwcasState::kSucceeded,
                                         PmwcasState::kFailed));

TEST_F(PmwcasTest, ADescriptorThatNamesNoWordIsCorruption) {
  for (const uint64_t offset : {uint64_t{12}, Memory::kBytes, ~uint64_t{0} - 7}) {
    memory_->Descriptor(3)->words[1].offset = offset;
    const Status status = Recover();
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.ToString().find(std::to_string(offset)), std::string::npos) << status.ToString();
  }
}

TEST_F(PmwcasTest, ThreadsGiveTheirPlacesBack) {
  for (uint32_t i = 0; i < 3 * Pmwcas::kThreadsMax; ++i) {
    PmwcasThread thread(&pmwcas_, Medium::kTmpfs, &counters_);
    const Pmwcas::Change change = {memory_->Word(0), i, i + 1};
    bool changed = false;
    ASSERT_TRUE(thread.Execute(&change, 1, &changed).ok());
    ASSERT_TRUE(changed);
  }
}

}  // namespace
}  // namespace pmlsm::primitives
