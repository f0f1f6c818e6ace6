// The contract of Publisher, once over all three modes; then what each mode adds.
#include "pmem/publish.h"

#include <libpmemobj.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "pmem/extent_allocator.h"
#include "pmem/test_dir.h"

namespace pmlsm {
namespace {

using Use = ExtentAllocator::Use;
constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kExtent = 16 << 10;

class PublishTest : public testing::TestWithParam<FailureAtomicity> {
 protected:
  PublishTest() { Open(); }

  void Close() {
    publisher_.reset();
    extents_.reset();
    pool_.reset();
  }
  void Open(uint64_t max_pmem_bytes = 64 * kMiB) {
    Close();
    PoolOptions options;
    options.set_dir = dir_.Sub("db");
    options.create = true;
    options.max_pmem_bytes = max_pmem_bytes;
    options.extent_bytes = kExtent;
    options.client_bytes = 4096;
    const Status status = Pool::Open(options, &pool_);
    ASSERT_TRUE(status.ok()) << status.ToString();
    extents_ = std::make_unique<ExtentAllocator>(pool_.get());
    publisher_ = Publisher::New(GetParam(), pool_.get());
  }
  void OpenSmall() {
    Close();
    TestDir::Run("rm -r " + dir_.Sub("db"));
    Open(16 * kMiB);
  }

  uint64_t* Word() const { return pool_->Writable<uint64_t>(pool_->header().client_offset); }

  void Write(Span span, char fill, Store* store) {
    const std::string bytes(span.bytes, fill);
    store->Stream(pool_->Writable(span.offset), bytes.data(), bytes.size());
    EXPECT_TRUE(store->Fence().ok());
  }
  void Write(Span span, char fill) {
    PersistCounters counters;
    Store store(pool_->medium(), &counters);
    Write(span, fill, &store);
  }
  bool Holds(Span span, char fill) const {
    return std::string(pool_->At(span.offset), span.bytes) == std::string(span.bytes, fill);
  }
  Span MustAllocate(uint64_t bytes) {
    Span span;
    EXPECT_TRUE(extents_->Allocate(bytes, Use::kBackground, &span).ok());
    return span;
  }
  Status PublishWord(uint64_t value) {
    PersistCounters counters;
    Store store(pool_->medium(), &counters);
    return publisher_->Publish(&store, Word(), value);
  }

  // Opens the pool in a child, which kills itself at the end of `body`.
  void InKilledChild(const std::function<void()>& body) {
    Close();
    const pid_t child = fork();
    if (child == 0) {
      Open();
      body();
      kill(getpid(), SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    Open();
  }

  TestDir dir_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<ExtentAllocator> extents_;
  std::unique_ptr<Publisher> publisher_;
};

TEST_P(PublishTest, ARangeThatEndedHoldsWhatWasWritten) {
  const Span span = MustAllocate(300000);
  ASSERT_TRUE(publisher_->BeginRange(span).ok());
  Write(span, 'n');
  ASSERT_TRUE(publisher_->EndRange().ok());
  EXPECT_TRUE(Holds(span, 'n'));
  ASSERT_TRUE(PublishWord(span.offset).ok());
  Open();
  EXPECT_EQ(*Word(), span.offset);
  EXPECT_TRUE(Holds(span, 'n'));
}

TEST_P(PublishTest, AnAbortedRangeCanBeUsedAgain) {
  const Span span = MustAllocate(100000);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(publisher_->BeginRange(span).ok());
    Write({span.offset, span.bytes / 2}, 'x');
    publisher_->AbortRange();
  }
  ASSERT_TRUE(publisher_->BeginRange(span).ok());
  Write(span, 'n');
  ASSERT_TRUE(publisher_->EndRange().ok());
  EXPECT_TRUE(Holds(span, 'n'));
  extents_->Check();
}

TEST_P(PublishTest, TheWordCountsOnceThroughTheStore) {
  PersistCounters counters;
  Store store(pool_->medium(), &counters);
  ASSERT_TRUE(publisher_->Publish(&store, Word(), 7).ok());
  const PersistCounts counts = Read(counters);
  EXPECT_EQ(counts.bytes_modified, 8u);
  EXPECT_EQ(counts.lines_flushed, 1u);
  EXPECT_EQ(counts.blocks_touched, 1u);
  EXPECT_EQ(counts.fences, 1u);
  EXPECT_EQ(*Word(), 7u);
}

TEST_P(PublishTest, AfterAKillTheWordIsTheLastOneThatWasPublished) {
  for (uint64_t value = 1; value < 4; ++value) {
    InKilledChild([&] {
      if (!PublishWord(value).ok()) _exit(1);
    });
    EXPECT_EQ(*Word(), value);
  }
}

TEST_P(PublishTest, AKillAtAnyTimeLeavesWordsInTheOrderOfTheirPublishing) {
  // The child publishes 1, 2, 3, ... and reports each one that is done; the word is the last reported or the
  // one after.
  for (int delay = 500; delay < 8000; delay += 1900) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    Close();
    const pid_t child = fork();
    if (child == 0) {
      Open();
      for (uint64_t value = *Word() + 1;; ++value) {
        if (!PublishWord(value).ok()) _exit(1);
        if (write(pipe_ends[1], &value, sizeof(value)) != sizeof(value)) _exit(2);
      }
    }
    close(pipe_ends[1]);
    uint64_t reported = 0;
    ASSERT_EQ(read(pipe_ends[0], &reported, sizeof(reported)), 8);  // it is at work
    usleep(delay);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    for (uint64_t value; read(pipe_ends[0], &value, sizeof(value)) == sizeof(value);) reported = value;
    close(pipe_ends[0]);
    Open();
    EXPECT_GE(*Word(), reported);
    EXPECT_LE(*Word(), reported + 1);
  }
}

TEST_P(PublishTest, AKillInsideARangeLeavesAPoolThatOpensAndLosesNoSpace) {
  Span span = MustAllocate(std::min(2 * kMiB, publisher_->range_bytes_max()));
  Write(span, 'o');
  const uint64_t growable = pool_->GrowableBytes();
  for (int i = 0; i < 4; ++i) {
    InKilledChild([&] {
      if (!extents_->MarkUsed(span).ok()) _exit(1);
      if (!publisher_->BeginRange(span).ok()) _exit(2);
      Write({span.offset, span.bytes / 2}, 'x');
    });
    ASSERT_TRUE(extents_->MarkUsed(span).ok());
    if (GetParam() == FailureAtomicity::kTransaction) {
      EXPECT_TRUE(Holds(span, 'o'));
    }
    // What the log took is free again.
    EXPECT_EQ(pool_->GrowableBytes(), growable);
    ASSERT_TRUE(publisher_->BeginRange(span).ok());
    Write(span, 'o');
    ASSERT_TRUE(publisher_->EndRange().ok());
    EXPECT_EQ(pool_->Groups().size(), 1u);
    extents_->Check();
  }
  // The heap is sound: no group overlaps what is in use.
  Span group;
  while (pool_->Grow(1, &group).ok()) {
    Write(group, 'g');
  }
  EXPECT_TRUE(Holds(span, 'o'));
  Close();
  EXPECT_EQ(pmemobj_check(dir_.Sub("db/pool.set").c_str(), "pmlsm"), 1);
}

TEST_P(PublishTest, ThreadsWriteTheirRangesAtOnce) {
  std::vector<std::thread> threads;
  std::vector<Span> spans;
  for (int t = 0; t < 4; ++t) spans.push_back(MustAllocate(200000));
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(publisher_->BeginRange(spans[t]).ok());
        Write(spans[t], static_cast<char>('a' + t));
        EXPECT_TRUE(publisher_->EndRange().ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int t = 0; t < 4; ++t) EXPECT_TRUE(Holds(spans[t], static_cast<char>('a' + t)));
}

TEST_P(PublishTest, AFullPoolStillWritesOneRangeAtATime) {
  OpenSmall();
  std::vector<Span> spans;
  Span span;
  while (extents_->Allocate(kExtent, Use::kBackground, &span).ok()) spans.push_back(span);
  const Span group = pool_->Groups().back();
  const Span range = {group.offset, std::min(group.bytes, publisher_->range_bytes_max())};
  for (int i = 0; i < 3; ++i) {
    const Status status = publisher_->BeginRange(range);
    ASSERT_TRUE(status.ok()) << status.ToString();
    Write(range, 'n');
    ASSERT_TRUE(publisher_->EndRange().ok());
  }
  EXPECT_TRUE(Holds(range, 'n'));
  EXPECT_TRUE(PublishWord(9).ok());
}

INSTANTIATE_TEST_SUITE_P(Modes, PublishTest,
                         testing::Values(FailureAtomicity::kTransaction, FailureAtomicity::kIndividual,
                                         FailureAtomicity::kAtomic),
                         [](const auto& info) {
                           switch (info.param) {
                             case FailureAtomicity::kTransaction:
                               return "Transaction";
                             case FailureAtomicity::kIndividual:
                               return "Individual";
                             default:
                               return "Atomic";
                           }
                         });

class TransactionTest : public PublishTest {
 protected:
  // Begins ranges, each on a thread of its own, all open at once, until there is no room for one more log. How
  // many there was room for.
  size_t OpenUntilNoRoom(const std::vector<Span>& ranges, size_t i) {
    size_t opened = i;
    if (i == ranges.size()) return opened;
    std::thread([&] {
      const Status s = publisher_->BeginRange(ranges[i]);
      EXPECT_EQ(pmemobj_tx_stage(), s.ok() ? TX_STAGE_WORK : TX_STAGE_NONE);
      EXPECT_TRUE(s.ok() || s.IsNoSpace()) << s.ToString();
      if (!s.ok()) return;
      opened = OpenUntilNoRoom(ranges, i + 1);
      Write(ranges[i], 'n');
      EXPECT_TRUE(publisher_->EndRange().ok());
    }).join();
    return opened;
  }
};

TEST_P(TransactionTest, AnAbortedRangeHoldsItsOldBytes) {
  const Span span = MustAllocate(500000);
  Write(span, 'o');
  ASSERT_TRUE(publisher_->BeginRange(span).ok());
  Write(span, 'n');
  publisher_->AbortRange();
  EXPECT_TRUE(Holds(span, 'o'));
}

TEST_P(TransactionTest, ARangeThatIsTooLargeForTheLogIsWrittenWithoutASnapshot) {
  const Span span = MustAllocate(publisher_->range_bytes_max() + kExtent);
  EXPECT_TRUE(publisher_->BeginRange(span).ok());
  EXPECT_EQ(pmemobj_tx_stage(), TX_STAGE_NONE);
  EXPECT_TRUE(publisher_->EndRange().ok());
  EXPECT_TRUE(publisher_->BeginRange(span).ok());
  publisher_->AbortRange();
  EXPECT_TRUE(PublishWord(1).ok());
}

TEST_P(TransactionTest, NoRoomForTheLogIsNoSpaceAndWorksAgainLater) {
  OpenSmall();
  Span span;
  while (extents_->Allocate(kExtent, Use::kBackground, &span).ok()) {
  }
  std::vector<Span> ranges;
  for (const Span& group : pool_->Groups()) {
    const uint64_t bytes = publisher_->range_bytes_max();
    for (uint64_t at = group.offset; at + bytes <= group.end(); at += bytes) ranges.push_back({at, bytes});
  }
  const size_t opened = OpenUntilNoRoom(ranges, 0);
  EXPECT_GE(opened, 1u) << "the reserve carries a log of full size";
  EXPECT_LT(opened, ranges.size());
  for (size_t i = 0; i < opened; ++i) EXPECT_TRUE(Holds(ranges[i], 'n'));
  ASSERT_TRUE(publisher_->BeginRange(ranges[opened]).ok());
  Write(ranges[opened], 'm');
  EXPECT_TRUE(publisher_->EndRange().ok());
  EXPECT_TRUE(PublishWord(1).ok());
}

INSTANTIATE_TEST_SUITE_P(Transaction, TransactionTest, testing::Values(FailureAtomicity::kTransaction));

}  // namespace
}  // namespace pmlsm
