// ExtentAllocator by its contract, and against a naive model that knows each extent's owner.
#include "pmem/extent_allocator.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "pmem/test_dir.h"
#include "util/random.h"

namespace pmlsm {
namespace {

using Use = ExtentAllocator::Use;
constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kExtent = 16 << 10;

class ExtentAllocatorTest : public testing::Test {
 protected:
  void Open(uint64_t max_pmem_bytes = 32 * kMiB) {
    PoolOptions options;
    options.set_dir = dir_.Sub("db");
    options.create = true;
    options.max_pmem_bytes = max_pmem_bytes;
    options.extent_bytes = kExtent;
    options.client_bytes = 4096;
    extents_.reset();
    pool_.reset();
    const Status status = Pool::Open(options, &pool_);
    ASSERT_TRUE(status.ok()) << status.ToString();
    extents_ = std::make_unique<ExtentAllocator>(pool_.get());
  }

  Span MustAllocate(uint64_t bytes, Use use = Use::kWrite) {
    Span span;
    const Status status = extents_->Allocate(bytes, use, &span);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return span;
  }

  // Takes all that is left, a span a group or less; returns the spans.
  std::vector<Span> Exhaust(Use use) {
    std::vector<Span> spans;
    Span span;
    while (extents_->Allocate(kExtent, use, &span).ok()) spans.push_back(span);
    return spans;
  }

  TestDir dir_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<ExtentAllocator> extents_;
};

TEST_F(ExtentAllocatorTest, RoundsUpToWholeExtentsAndAlignsTo4KiB) {
  Open();
  const Span span = MustAllocate(kExtent + 1);
  EXPECT_EQ(span.bytes, 2 * kExtent);
  EXPECT_EQ(span.offset % 4096, 0u);
  EXPECT_EQ(extents_->used_bytes(), 2 * kExtent);
  Span none;
  EXPECT_TRUE(extents_->Allocate(0, Use::kWrite, &none).IsInvalidArgument());
  extents_->Check();
}

TEST_F(ExtentAllocatorTest, BestFitTakesTheSmallestSpanThatIsLargeEnough) {
  Open();
  const Span a = MustAllocate(4 * kExtent);
  const Span keep1 = MustAllocate(kExtent);
  const Span b = MustAllocate(2 * kExtent);
  const Span keep2 = MustAllocate(kExtent);
  extents_->Free(a);
  extents_->Free(b);
  EXPECT_EQ(MustAllocate(2 * kExtent).offset, b.offset);
  EXPECT_EQ(MustAllocate(3 * kExtent).offset, a.offset);
  extents_->Free(keep1);
  extents_->Free(keep2);
  extents_->Check();
}

TEST_F(ExtentAllocatorTest, AmongEqualsTheMostRecentlyFreedComesFirst) {
  Open();
  std::vector<Span> spans;
  for (int i = 0; i < 8; ++i) spans.push_back(MustAllocate(kExtent));
  for (const int i : {1, 5, 3}) extents_->Free(spans[i]);
  EXPECT_EQ(MustAllocate(kExtent).offset, spans[3].offset);
  EXPECT_EQ(MustAllocate(kExtent).offset, spans[5].offset);
  EXPECT_EQ(MustAllocate(kExtent).offset, spans[1].offset);
}

TEST_F(ExtentAllocatorTest, PartsOfASpanCanBeFreedAndNeighboursCoalesce) {
  Open();
  const Span span = MustAllocate(6 * kExtent);
  extents_->Free({span.offset + 2 * kExtent, 2 * kExtent});
  extents_->Free({span.offset, 2 * kExtent});
  extents_->Check();
  EXPECT_EQ(MustAllocate(4 * kExtent).offset, span.offset);
  extents_->Free({span.offset, 4 * kExtent});
  extents_->Free({span.offset + 4 * kExtent, 2 * kExtent});
  extents_->Check();
  EXPECT_EQ(extents_->used_bytes(), 0u);
}

TEST_F(ExtentAllocatorTest, ASpanLargerThanTheUsualGroupGetsAGroupOfItsOwn) {
  Open(64 * kMiB);
  ASSERT_LT(pool_->header().group_bytes, 10 * kMiB);
  const Span span = MustAllocate(10 * kMiB);
  EXPECT_EQ(span.bytes, 10 * kMiB);
  extents_->Check();
}

TEST_F(ExtentAllocatorTest, WhatTheManifestReachesIsNotHandedOut) {
  Open();
  const Span kept = MustAllocate(3 * kExtent);
  MustAllocate(kExtent);
  Open();  // everything is free again until it is marked
  EXPECT_EQ(extents_->used_bytes(), 0u);
  ASSERT_TRUE(extents_->MarkUsed(kept).ok());
  EXPECT_EQ(extents_->used_bytes(), kept.bytes);
  for (const Span& span : Exhaust(Use::kBackground)) {
    EXPECT_TRUE(span.end() <= kept.offset || span.offset >= kept.end());
  }
  extents_->Check();
}

TEST_F(ExtentAllocatorTest, MarkUsedRefusesWhatCannotBe) {
  Open();
  const Span span = MustAllocate(4 * kExtent);
  extents_->Free(span);
  const Span group = pool_->Groups()[0];
  ASSERT_TRUE(extents_->MarkUsed({group.offset + kExtent, 2 * kExtent}).ok());
  EXPECT_TRUE(extents_->MarkUsed({group.offset + kExtent, kExtent}).IsCorruption()) << "twice";
  EXPECT_TRUE(extents_->MarkUsed({group.offset, 4 * kExtent}).IsCorruption()) << "overlaps";
  EXPECT_TRUE(extents_->MarkUsed({group.offset, 0}).IsCorruption());
  EXPECT_TRUE(extents_->MarkUsed({group.offset + 4096, kExtent}).IsCorruption()) << "not aligned";
  EXPECT_TRUE(extents_->MarkUsed({group.offset, kExtent / 2}).IsCorruption());
  EXPECT_TRUE(extents_->MarkUsed({group.end() - kExtent, 2 * kExtent}).IsCorruption()) << "past the group";
  EXPECT_TRUE(extents_->MarkUsed({0, kExtent}).IsCorruption());
  EXPECT_TRUE(extents_->MarkUsed({~uint64_t{0} - kExtent + 1, kExtent}).IsCorruption());
  EXPECT_TRUE(extents_->MarkUsed({group.offset, ~uint64_t{0} / kExtent * kExtent}).IsCorruption());
  extents_->Check();
}

TEST_F(ExtentAllocatorTest, FreeingTwiceIsCaught) {
  Open();
  const Span span = MustAllocate(2 * kExtent);
  extents_->Free({span.offset, kExtent});
  EXPECT_DEATH(extents_->Free(span), "check failed");
  EXPECT_DEATH(extents_->Free({span.offset, kExtent}), "check failed");
}

TEST_F(ExtentAllocatorTest, AFullPoolIsNoSpaceWithSizesAndWorksAgainAfterAFree) {
  Open(16 * kMiB);
  std::vector<Span> spans = Exhaust(Use::kWrite);
  ASSERT_GT(spans.size() * kExtent, 4 * kMiB);
  Span span;
  const Status full = extents_->Allocate(5 * kExtent, Use::kBackground, &span);
  EXPECT_TRUE(full.IsNoSpace());
  EXPECT_NE(full.ToString().find(std::to_string(5 * kExtent)), std::string::npos) << full.ToString();
  EXPECT_FALSE(extents_->HasRoom(64 * kMiB, Use::kBackground));
  extents_->Free(spans.back());
  EXPECT_TRUE(extents_->HasRoom(kExtent, Use::kWrite));
  EXPECT_EQ(MustAllocate(kExtent).offset, spans.back().offset);
  extents_->Check();
}

TEST_F(ExtentAllocatorTest, WritesStopAtTheReserveAndBackgroundWorkGoesOn) {
  Open(24 * kMiB);
  extents_->SetReserve(2 * kMiB, kExtent);
  Exhaust(Use::kWrite);
  EXPECT_GE(extents_->free_bytes(), 2 * kMiB);
  EXPECT_LT(extents_->free_bytes(), 4 * kMiB);
  Span span;
  EXPECT_TRUE(extents_->Allocate(kExtent, Use::kWrite, &span).IsNoSpace());
  EXPECT_FALSE(extents_->HasRoom(8 * kMiB, Use::kWrite));
  uint64_t deletes = 0;
  for (const Span& taken : Exhaust(Use::kDelete)) deletes += taken.bytes;
  EXPECT_GE(deletes, kMiB);
  EXPECT_EQ(extents_->free_bytes(), kMiB) << "the lower half is not for deletes";
  uint64_t background = 0;
  for (const Span& taken : Exhaust(Use::kBackground)) background += taken.bytes;
  EXPECT_GE(background, kMiB);
  extents_->Check();
}

TEST_F(ExtentAllocatorTest, AFragmentedPoolGivesTheLargestPieceThereIs) {
  Open(24 * kMiB);
  std::vector<Span> spans = Exhaust(Use::kBackground);
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.offset < b.offset; });
  for (size_t i = 10; i < 13; ++i) extents_->Free(spans[i]);
  ASSERT_EQ(spans[12].end() - spans[10].offset, 3 * kExtent) << "of one group";
  extents_->Free(spans[20]);
  EXPECT_TRUE(extents_->HasRoomInPieces(4 * kExtent, Use::kBackground));
  EXPECT_FALSE(extents_->HasRoomInPieces(5 * kExtent, Use::kBackground));
  Span span;
  EXPECT_TRUE(extents_->AllocateUpTo(8 * kExtent, 4 * kExtent, Use::kBackground, &span).IsNoSpace());
  ASSERT_TRUE(extents_->AllocateUpTo(8 * kExtent, 2 * kExtent, Use::kBackground, &span).ok());
  EXPECT_EQ(span.offset, spans[10].offset);
  EXPECT_EQ(span.bytes, 3 * kExtent);
  ASSERT_TRUE(extents_->AllocateUpTo(8 * kExtent, 1, Use::kBackground, &span).ok());
  EXPECT_EQ(span.offset, spans[20].offset);
  EXPECT_TRUE(extents_->AllocateUpTo(8 * kExtent, 1, Use::kBackground, &span).IsNoSpace());
  extents_->Check();
}

TEST_F(ExtentAllocatorTest, GrowAheadMakesRoomBeforeItIsNeeded) {
  Open(128 * kMiB);
  EXPECT_EQ(extents_->free_bytes(), 0u);
  ASSERT_TRUE(extents_->GrowAhead(kMiB).ok());
  const uint64_t once = extents_->free_bytes();
  EXPECT_GE(once, kMiB);
  ASSERT_TRUE(extents_->GrowAhead(kMiB).ok());
  EXPECT_EQ(extents_->free_bytes(), once);
  EXPECT_TRUE(extents_->GrowAhead(256 * kMiB).IsNoSpace());
  extents_->Check();
}

TEST_F(ExtentAllocatorTest, RandomAllocateAndFreeAgreeWithAModel) {
  Open(32 * kMiB);
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Random random(seed);
  std::map<uint64_t, Span> live;  // by offset
  std::set<uint64_t> used;        // each used extent
  for (int step = 0; step < 20000; ++step) {
    if (live.empty() || !random.OneIn(3)) {
      const uint64_t bytes = random.Uniform(random.OneIn(50) ? 200 * kExtent : 6 * kExtent) + 1;
      Span span;
      const Status status = extents_->Allocate(bytes, Use::kBackground, &span);
      if (!status.ok()) {
        ASSERT_TRUE(status.IsNoSpace()) << status.ToString();
        // Full: give up about half.
        for (auto i = live.begin(); i != live.end();) {
          if (random.OneIn(2)) {
            ++i;
            continue;
          }
          extents_->Free(i->second);
          for (uint64_t e = i->second.offset; e < i->second.end(); e += kExtent) used.erase(e);
          i = live.erase(i);
        }
        continue;
      }
      ASSERT_EQ(span.bytes, (bytes + kExtent - 1) / kExtent * kExtent);
      for (uint64_t e = span.offset; e < span.end(); e += kExtent) ASSERT_TRUE(used.insert(e).second);
      live[span.offset] = span;
    } else {
      auto victim = live.lower_bound(live.begin()->first + random.Uniform(32 * kMiB));
      if (victim == live.end()) victim = live.begin();
      Span span = victim->second;
      live.erase(victim);
      if (span.bytes > kExtent && random.OneIn(2)) {  // a part of it, the rest stays
        const uint64_t head = (random.Uniform(span.bytes / kExtent - 1) + 1) * kExtent;
        live[span.offset + head] = {span.offset + head, span.bytes - head};
        span.bytes = head;
      }
      extents_->Free(span);
      for (uint64_t e = span.offset; e < span.end(); e += kExtent) ASSERT_EQ(used.erase(e), 1u);
    }
    ASSERT_EQ(extents_->used_bytes(), used.size() * kExtent);
    if (step % 1000 == 0) extents_->Check();
  }
  for (const auto& entry : live) extents_->Free(entry.second);
  extents_->Check();
  EXPECT_EQ(extents_->used_bytes(), 0u);
  // All coalesced: one free span a group.
  for (const Span& group : pool_->Groups()) EXPECT_TRUE(extents_->MarkUsed(group).ok());
  EXPECT_EQ(extents_->free_bytes(), 0u);
}

TEST_F(ExtentAllocatorTest, ThreadsNeverShareAnExtent) {
  Open(64 * kMiB);
  std::vector<std::thread> threads;
  std::vector<std::atomic<int>> owners(64 * kMiB / 4096);
  std::atomic<int> clashes{0};
  for (int t = 1; t <= 4; ++t) {
    threads.emplace_back([&, t] {
      Random random(t);
      std::vector<Span> mine;
      for (int step = 0; step < 2000; ++step) {
        Span span;
        if (mine.size() < 20 &&
            extents_->Allocate(random.Uniform(8 * kExtent) + 1, Use::kWrite, &span).ok()) {
          if (owners[span.offset / 4096].exchange(t) != 0) ++clashes;
          mine.push_back(span);
        } else if (!mine.empty()) {
          const size_t i = random.Uniform(mine.size());
          owners[mine[i].offset / 4096] = 0;
          extents_->Free(mine[i]);
          mine.erase(mine.begin() + static_cast<long>(i));
        }
        if (step % 500 == 0) {
          EXPECT_TRUE(extents_->GrowAhead(kMiB).ok());
        }
      }
      for (const Span& span : mine) {
        owners[span.offset / 4096] = 0;
        extents_->Free(span);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(clashes, 0);
  EXPECT_EQ(extents_->used_bytes(), 0u);
  extents_->Check();
}

}  // namespace
}  // namespace pmlsm
