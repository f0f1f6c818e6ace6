// FU-2: allocations that fail, one at a time or from one on, at any place; then there is space again.
#include <atomic>
#include <chrono>
#include <thread>

#include "test/db/db_test_support.h"
#include "util/hooks.h"

namespace pmlsm {
namespace {

// Fails the allocation of this number, counted from 0, and, if asked, all later ones.
class FailingAllocations : public HookListener {
 public:
  FailingAllocations(uint64_t first, bool all_later) : first_(first), all_later_(all_later) {
    hooks.SetListener(this);
  }
  ~FailingAllocations() override { hooks.SetListener(nullptr); }
  bool FailAllocation() override {
    const uint64_t number = asked_.fetch_add(1);
    return all_later_ ? number >= first_ : number == first_;
  }
  // Whether there were so many.
  bool met() const { return asked_.load() > first_; }

 private:
  const uint64_t first_;
  const bool all_later_;
  std::atomic<uint64_t> asked_{0};
};

class SpaceFaultTest : public ::testing::TestWithParam<FailureAtomicity> {
 protected:
  void Open() {
    Options options = TinyOptions();
    options.failure_atomicity = GetParam();
    ASSERT_OK(DB::Open(options, dir_ / "db", &db_));
  }
  // A change that is made, or refused for lack of space, then whole or not at all.
  void Change(const std::string& key, const std::optional<std::string>& value) {
    const Status s = value ? db_->Put({}, key, *value) : db_->Delete({}, key);
    ASSERT_TRUE(s.ok() || s.IsNoSpace()) << s.ToString();
    if (!s.ok()) return;
    if (value) {
      model_[key] = *value;
    } else {
      model_.erase(key);
    }
  }
  static void OkOrNoSpace(const Status& s) { ASSERT_TRUE(s.ok() || s.IsNoSpace()) << s.ToString(); }

  // Fills memtables, flushes and merges, in the foreground and in the background.
  void Work(Random* random) {
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 120; ++i) {
        const std::string key = "key" + std::to_string(random->Uniform(200));
        if (random->OneIn(5)) {
          ASSERT_NO_FATAL_FAILURE(Change(key, std::nullopt));
        } else {
          ASSERT_NO_FATAL_FAILURE(Change(key, RandomBytes(random, random->Uniform(1500))));
        }
      }
      ASSERT_NO_FATAL_FAILURE(OkOrNoSpace(db_->Flush()));
    }
    WriteBatch batch;
    const std::string large = RandomBytes(random, 100000);  // more than a memtable
    ASSERT_OK(batch.Put("large", large));
    ASSERT_OK(batch.Put("larger", large + large));
    const Status s = db_->Write({}, &batch);
    ASSERT_NO_FATAL_FAILURE(OkOrNoSpace(s));
    if (s.ok()) model_["large"] = large, model_["larger"] = large + large;
    ASSERT_NO_FATAL_FAILURE(OkOrNoSpace(db_->CompactRange({}, nullptr, nullptr)));
  }

  // Writes come back by themselves, and nothing is lost, now and after a reopen.
  void ExpectHealed() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    Status s = db_->Put({}, "healed", "yes");
    while (s.IsNoSpace() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      s = db_->Put({}, "healed", "yes");
    }
    ASSERT_OK(s);
    model_["healed"] = "yes";
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
    std::string check;
    ASSERT_TRUE(db_->GetProperty("pmlsm.check", &check));
    ASSERT_EQ(check, "OK");
    ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
    ASSERT_OK(db_->Close());
    db_.reset();
    ASSERT_NO_FATAL_FAILURE(Open());
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
    db_.reset();
  }

  // False once so many allocations are not made.
  void FailAt(uint64_t number, bool all_later, bool* met) {
    SCOPED_TRACE("allocation " + std::to_string(number) + (all_later ? " and all later ones" : ""));
    ASSERT_OK(DestroyDB(dir_ / "db", {}));
    model_.clear();
    Random random(number);
    ASSERT_NO_FATAL_FAILURE(Open());
    {
      FailingAllocations failing(number, all_later);
      ASSERT_NO_FATAL_FAILURE(Work(&random));
      ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
      *met = failing.met();
    }
    ASSERT_NO_FATAL_FAILURE(ExpectHealed());
  }

  TestDir dir_;
  std::unique_ptr<DB> db_;
  Model model_;
};

TEST_P(SpaceFaultTest, FU2_AnyOneAllocationMayFail) {
  if (!Hooks::kActive) GTEST_SKIP() << "a release build";
  bool met = true;
  uint64_t number = 0;
  for (; met; ++number) ASSERT_NO_FATAL_FAILURE(FailAt(number, false, &met));
  EXPECT_GT(number, 20u) << "flushes, merges and the log allocate";
}

TEST_P(SpaceFaultTest, FU2_AllAllocationsFromAnyOneOnMayFail) {
  if (!Hooks::kActive) GTEST_SKIP() << "a release build";
  bool met = true;
  for (uint64_t number = 0; met; number += 1 + number / 8) {
    ASSERT_NO_FATAL_FAILURE(FailAt(number, true, &met));
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, SpaceFaultTest,
                         ::testing::Values(FailureAtomicity::kTransaction, FailureAtomicity::kIndividual,
                                           FailureAtomicity::kAtomic),
                         [](const auto& info) { return std::string(ToString(info.param)); });

}  // namespace
}  // namespace pmlsm
