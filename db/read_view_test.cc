// Read views by their contract: a pinned view stays whole, however often the state changes; an unpinned one
// gives back what it held. Run it under ThreadSanitizer too.
#include "db/read_view.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "util/mutex.h"
#include "util/random.h"

namespace pmlsm {
namespace {

constexpr int kLevelsMax = 16;

class ViewPoolTest : public testing::Test {
 protected:
  // A memtable that holds its number and counts while it lives.
  MemTableRef NewMemTable(uint64_t number) {
    live_.fetch_add(1);
    MemTableRef memtable(new MemTable(MemTableType::kSorted, BytewiseComparator(), number),
                         [this](MemTable* m) {
                           live_.fetch_sub(1);
                           delete m;
                         });
    memtable->rep->Insert("number", MakeTag(1, ValueType::kValue), std::to_string(number));
    return memtable;
  }

  // State `number`: the memtables number, number - 1, ... and a version that tells it from its neighbours.
  // Everything in it follows from the number, so that a reader can tell a view that is whole.
  void InstallState(uint64_t number) {
    std::vector<MemTableRef> frozen;
    for (uint64_t i = 1; i <= number % 3; ++i) frozen.push_back(NewMemTable(number - i));
    auto version = std::make_shared<const Version>(1 + static_cast<int>(number % kLevelsMax));
    pool_.Install(NewMemTable(number), std::move(frozen), std::move(version));
  }
  void Close() { pool_.Install(nullptr, {}, nullptr); }

  static bool Holds(const MemTableRef& memtable, uint64_t number) {
    Entry entry;
    return memtable != nullptr && memtable->first_segment == number &&
           memtable->rep->Get("number", kMaxSequenceNumber, &entry) &&
           entry.value == Slice(std::to_string(number));
  }
  // The number of the state that the view shows; 0 if the view is not whole.
  static uint64_t StateOf(const ReadView& view) {
    if (view.active == nullptr || view.version == nullptr) return 0;
    const uint64_t number = view.active->first_segment;
    if (!Holds(view.active, number) || view.frozen.size() != number % 3) return 0;
    for (uint64_t i = 1; i <= number % 3; ++i) {
      if (!Holds(view.frozen[i - 1], number - i)) return 0;
    }
    return view.version->levels() == 1 + static_cast<int>(number % kLevelsMax) ? number : 0;
  }

  std::atomic<int> live_{0};  // memtables
  ViewPool pool_;
};

TEST_F(ViewPoolTest, WithoutAStateThereIsNoView) {
  EXPECT_EQ(pool_.Pin().view, nullptr);
  EXPECT_EQ(pool_.current(), nullptr);
  EXPECT_FALSE(pool_.AnyPinned());
  EXPECT_EQ(pool_.Reclaim(), 0u);
}

TEST_F(ViewPoolTest, APinShowsTheStateThatWasInstalledLast) {
  for (uint64_t number = 10; number < 20; ++number) {
    InstallState(number);
    const ViewPin pin = pool_.Pin();
    ASSERT_NE(pin.view, nullptr);
    EXPECT_EQ(pin.view, pool_.current());
    EXPECT_EQ(StateOf(*pin.view), number);
    ViewPool::Unpin(pin);
  }
}

TEST_F(ViewPoolTest, TheCurrentViewIsNeverEmptied) {
  InstallState(10);
  EXPECT_EQ(pool_.Reclaim(), 0u);
  EXPECT_EQ(StateOf(*pool_.current()), 10u);
}

TEST_F(ViewPoolTest, AReplacedViewStaysWholeUntilItsLastPinGoes) {
  InstallState(10);
  const ViewPin first = pool_.Pin();
  const ViewPin second = pool_.Pin();
  const int live = live_.load();
  InstallState(12);  // without frozen memtables
  EXPECT_EQ(live_.load(), live + 1);
  EXPECT_EQ(pool_.Reclaim(), 1u);
  EXPECT_EQ(StateOf(*first.view), 10u);
  ViewPool::Unpin(first);
  EXPECT_EQ(pool_.Reclaim(), 1u);
  EXPECT_EQ(StateOf(*second.view), 10u);
  ViewPool::Unpin(second);
  EXPECT_EQ(StateOf(*second.view), 10u) << "only Reclaim empties";
  EXPECT_EQ(pool_.Reclaim(), 0u);
  EXPECT_EQ(live_.load(), 1) << "what the view held is free";
  EXPECT_EQ(StateOf(*pool_.current()), 12u);
}

TEST_F(ViewPoolTest, ReclaimTellsPinnedViewsFromUnpinnedOnes) {
  std::vector<ViewPin> pins;
  for (uint64_t number = 9; number < 30; number += 3) {  // one memtable each
    InstallState(number);
    pins.push_back(pool_.Pin());
  }
  InstallState(30);
  EXPECT_EQ(pool_.Reclaim(), pins.size());
  for (const size_t i : {1, 4, 5}) ViewPool::Unpin(pins[i]);
  EXPECT_EQ(pool_.Reclaim(), pins.size() - 3);
  EXPECT_EQ(live_.load(), static_cast<int>(pins.size()) - 3 + 1);
  for (const size_t i : {0, 2, 3, 6}) {
    EXPECT_EQ(StateOf(*pins[i].view), 9 + 3 * i);
    ViewPool::Unpin(pins[i]);
  }
  EXPECT_EQ(pool_.Reclaim(), 0u);
  EXPECT_EQ(live_.load(), 1);
}

TEST_F(ViewPoolTest, EmptyViewsAreUsedAgain) {
  std::set<const ReadView*> views;
  for (uint64_t number = 10; number < 200; ++number) {
    InstallState(number);
    EXPECT_EQ(StateOf(*pool_.current()), number);
    views.insert(pool_.current());
    EXPECT_EQ(pool_.Reclaim(), 0u);
  }
  EXPECT_EQ(views.size(), 2u);
}

TEST_F(ViewPoolTest, AClosedPoolGivesNoViewAndKeepsPinnedOnes) {
  InstallState(10);
  const ViewPin pin = pool_.Pin();
  Close();
  EXPECT_EQ(pool_.Pin().view, nullptr);
  EXPECT_EQ(pool_.current(), nullptr);
  EXPECT_TRUE(pool_.AnyPinned());
  EXPECT_EQ(pool_.Reclaim(), 1u);
  EXPECT_EQ(StateOf(*pin.view), 10u);
  ViewPool::Unpin(pin);
  EXPECT_FALSE(pool_.AnyPinned());
  EXPECT_EQ(pool_.Reclaim(), 0u);
  EXPECT_EQ(live_.load(), 0);
}

// More threads than stripes; each pin is let go by another thread than its own.
TEST_F(ViewPoolTest, APinMayBeLetGoByAnyThread) {
  constexpr int kThreads = 2 * ReadView::kStripes + 3;
  InstallState(10);
  std::vector<ViewPin> pins(kThreads);
  for (ViewPin& pin : pins) std::thread([this, &pin] { pin = pool_.Pin(); }).join();
  std::set<int> stripes;
  for (const ViewPin& pin : pins) stripes.insert(pin.stripe);
  EXPECT_EQ(stripes.size(), static_cast<size_t>(ReadView::kStripes));
  InstallState(12);
  for (const ViewPin& pin : pins) {
    EXPECT_TRUE(pool_.AnyPinned());
    EXPECT_EQ(pool_.Reclaim(), 1u);
    EXPECT_EQ(StateOf(*pin.view), 10u);
    std::thread([pin] { ViewPool::Unpin(pin); }).join();
  }
  EXPECT_FALSE(pool_.AnyPinned());
  EXPECT_EQ(pool_.Reclaim(), 0u);
  EXPECT_EQ(live_.load(), 1);
}

// Readers pin, look at what they pinned, and let go or hand the pin to another reader, while states are
// installed and reclaimed.
class ViewPoolConcurrencyTest : public ViewPoolTest {
 protected:
  static constexpr int kReaders = 3;
  static constexpr uint64_t kFirst = 10;
  static constexpr uint64_t kStates = 30000;

  struct Held {
    ViewPin pin;
    uint64_t number;
  };

  void Write() {
    while (readers_ready_.load() < kReaders) std::this_thread::yield();
    for (uint64_t number = kFirst; number < kFirst + kStates; ++number) {
      {
        MutexLock lock(&mutex_);
        InstallState(number);
        pool_.Reclaim();
      }
      installed_.store(number, std::memory_order_release);
      // Lets a reader meet some states while they are current, also on one core.
      if (number % 8 == 0) std::this_thread::yield();
    }
    MutexLock lock(&mutex_);
    Close();
  }

  // Until the pool is closed.
  void Read(uint64_t seed) {
    Random random(seed);
    readers_ready_.fetch_add(1);
    while (!HasFailure()) {
      const uint64_t installed = installed_.load(std::memory_order_acquire);
      const ViewPin pin = pool_.Pin();
      if (pin.view == nullptr) break;
      const uint64_t number = StateOf(*pin.view);
      ASSERT_NE(number, 0u) << "a view that is not whole";
      ASSERT_GE(number, installed) << "a state older than the one that was current before";
      pins_.fetch_add(1, std::memory_order_relaxed);
      switch (random.Uniform(4)) {
        case 0:
          HandOver({pin, number});
          TakeOver();
          break;
        case 1:
          std::this_thread::yield();
          [[fallthrough]];
        default:
          ASSERT_EQ(StateOf(*pin.view), number) << "a pinned view changed";
          ViewPool::Unpin(pin);
      }
    }
  }

  void HandOver(const Held& held) {
    MutexLock lock(&handed_over_mutex_);
    handed_over_.push_back(held);
  }
  // Ends the oldest pin that was handed over, when there are several.
  void TakeOver() {
    Held held;
    {
      MutexLock lock(&handed_over_mutex_);
      if (handed_over_.size() < 4) return;
      held = handed_over_.front();
      handed_over_.pop_front();
    }
    ASSERT_EQ(StateOf(*held.pin.view), held.number) << "a pinned view changed";
    ViewPool::Unpin(held.pin);
    MutexLock lock(&mutex_);
    pool_.Reclaim();
  }

  Mutex mutex_;  // the DB's
  Mutex handed_over_mutex_;
  std::deque<Held> handed_over_;
  std::atomic<uint64_t> installed_{0};
  std::atomic<uint64_t> pins_{0};
  std::atomic<int> readers_ready_{0};
};

TEST_F(ViewPoolConcurrencyTest, PinnedViewsStayWholeWhileStatesComeAndGo) {
  InstallState(kFirst);
  installed_.store(kFirst);
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) readers.emplace_back([this, i] { Read(1 + i); });
  Write();
  for (std::thread& reader : readers) reader.join();
  printf("%llu pins\n", static_cast<unsigned long long>(pins_.load()));

  EXPECT_EQ(pool_.Pin().view, nullptr);
  EXPECT_EQ(pool_.AnyPinned(), !handed_over_.empty());
  EXPECT_EQ(pool_.Reclaim() == 0, handed_over_.empty());
  for (const Held& held : handed_over_) {
    EXPECT_EQ(StateOf(*held.pin.view), held.number);
    ViewPool::Unpin(held.pin);
  }
  EXPECT_FALSE(pool_.AnyPinned());
  EXPECT_EQ(pool_.Reclaim(), 0u);
  EXPECT_EQ(live_.load(), 0) << "memtables that no view holds";
}

// A reader that was stopped between finding the current view and pinning it must not come back to an emptied
// one. The window is a few nanoseconds: hence states that cost nothing, more readers than cores, which do
// little else than pin, and views that stay empty for most of the time.
TEST_F(ViewPoolConcurrencyTest, NoPinIsMadeOnAViewThatWasEmptied) {
  constexpr int kChanges = 150000;
  const MemTableRef memtables[] = {NewMemTable(1), NewMemTable(2), NewMemTable(3)};
  const auto version = std::make_shared<const Version>(1);
  pool_.Install(memtables[0], {}, version);
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([this] {
      readers_ready_.fetch_add(1);
      for (ViewPin pin = pool_.Pin(); pin.view != nullptr && !HasFailure(); pin = pool_.Pin()) {
        const MemTable* const active = pin.view->active.get();
        ASSERT_NE(active, nullptr) << "an emptied view";
        ASSERT_EQ(pin.view->active.get(), active) << "a pinned view changed";
        ViewPool::Unpin(pin);
      }
    });
  }
  while (readers_ready_.load() < kReaders) std::this_thread::yield();
  for (int change = 1; change <= kChanges; ++change) {
    pool_.Install(memtables[change % 3], {}, version);
    pool_.Reclaim();
    for (int i = 0; i < 300; ++i) pool_.current();  // the view before stays empty meanwhile
  }
  Close();
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(pool_.Reclaim(), 0u);
}

}  // namespace
}  // namespace pmlsm
