// How much space merges take beside the data that they merge, and merges in a pool that is nearly full.
#include <algorithm>
#include <atomic>
#include <string>

#include "test/db/db_test_support.h"
#include "util/hook_listener.h"
#include "util/hooks.h"

namespace pmlsm {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr size_t kValueBytes = 1000;

// The most that the pool had in use when a merge step was written and nothing of its inputs was free yet.
class PeakUse final : public HookListener {
 public:
  explicit PeakUse(DB* db) : db_(db) { hooks.SetListener(this); }
  ~PeakUse() override { hooks.SetListener(nullptr); }
  void Reached(HookPoint point) override {
    if (point != HookPoint::kMergeStepWritten) return;
    uint64_t used = 0;
    CHECK(db_->GetIntProperty("pmlsm.pmem-used-bytes", &used));
    peak_ = std::max(peak_.load(), used);
    ++steps_;
  }
  uint64_t peak() const { return peak_; }
  int steps() const { return steps_; }

 private:
  DB* const db_;
  std::atomic<uint64_t> peak_{0};
  std::atomic<int> steps_{0};
};

class ExtraSpaceTest : public testing::TestWithParam<CompactionStyle> {
 protected:
  void Open(uint64_t pool_bytes, bool merges) {
    Options options;
    options.create_if_missing = true;
    options.max_pmem_bytes = pool_bytes;
    options.compaction_style = GetParam();
    options.disable_auto_compactions = !merges;
    db_.reset();
    ASSERT_OK(DB::Open(options, dir_ / "db", &db_));
  }
  uint64_t Number(const char* property) {
    uint64_t value = 0;
    EXPECT_TRUE(db_->GetIntProperty(property, &value)) << property;
    return value;
  }
  static std::string Key(uint64_t i) { return "key" + std::to_string(i * 0x9e3779b97f4a7c15); }  // scattered
  // Its value is made of the key and `round`.
  static std::string Value(const std::string& key, int round) {
    std::string value = key + "." + std::to_string(round) + ".";
    value.resize(kValueBytes, 'v');
    return value;
  }
  Status Put(uint64_t i, int round) { return db_->Put({}, Key(i), Value(Key(i), round)); }

  void TearDown() override {
    if (HasFailure()) printf("%s\n", ReadFile(dir_ / "db/LOG").c_str());
  }

  TestDir dir_;
  std::unique_ptr<DB> db_;
};

TEST_P(ExtraSpaceTest, AMergeTakesAtMostATenthOfTheDBOrItsLeastStep) {
  constexpr uint64_t kPoolBytes = 256 * kMiB;
  constexpr uint64_t kLeastStep = kPoolBytes / 32;
  // Taken meanwhile for other ends: spare segments of the log, what is held for merges in a full pool, and runs'
  // descriptors.
  constexpr uint64_t kHeld = 2 * kMiB + kPoolBytes / 64 + kMiB;
  uint64_t next = 0;
  int steps = 0;
  for (int round = 0; round < 6; ++round) {
    ASSERT_NO_FATAL_FAILURE(Open(kPoolBytes, false));
    while (Number("pmlsm.num-runs-at-level0") < 8)
      for (int i = 0; i < 1000; ++i) ASSERT_OK(Put(next++, 0));
    ASSERT_OK(db_->Close());

    ASSERT_NO_FATAL_FAILURE(Open(kPoolBytes, false));
    ASSERT_OK(db_->WaitForCompact());
    ASSERT_OK(db_->Flush(FlushOptions()));
    const uint64_t before = Number("pmlsm.pmem-used-bytes");
    const uint64_t run_bytes = Number("pmlsm.total-run-bytes");
    ASSERT_OK(db_->Close());

    ASSERT_NO_FATAL_FAILURE(Open(kPoolBytes, true));
    PeakUse peak(db_.get());
    ASSERT_OK(db_->Put({}, "now", ""));  // starts what is due
    ASSERT_OK(db_->WaitForCompact());
    steps += peak.steps();
    if (peak.steps() == 0) continue;
    EXPECT_LE(peak.peak(), before + std::max(run_bytes / 10, kLeastStep) + kHeld) << "round " << round;
  }
  EXPECT_GT(steps, 12);
  for (uint64_t i = 0; i < next; i += 997) ASSERT_TRUE(GetIs(db_.get(), {}, Key(i), Value(Key(i), 0)));
}

// Overwrites go on: where one finds no space, a merge makes some.
TEST_P(ExtraSpaceTest, ADBThatFills85PercentOfItsPoolStillMerges) {
  constexpr uint64_t kPoolBytes = 256 * kMiB;
  ASSERT_NO_FATAL_FAILURE(Open(kPoolBytes, true));
  uint64_t keys = 0;
  while (Number("pmlsm.pmem-used-bytes") < kPoolBytes / 100 * 85) {
    for (int i = 0; i < 100; ++i) ASSERT_OK(Put(keys++, 0));
    if (keys % 1000 == 0) ASSERT_OK(db_->WaitForCompact());
  }
  Random random(1);
  std::vector<int> rounds(keys, 0);
  uint64_t refused = 0;
  const uint64_t overwrites = keys / 3;
  for (uint64_t i = 0; i < overwrites; ++i) {
    const uint64_t key = random.Uniform(keys);
    Status s = Put(key, ++rounds[key]);
    for (int tries = 0; s.IsNoSpace() && tries < 3; ++tries, ++refused) {
      ASSERT_OK(db_->WaitForCompact());
      s = Put(key, rounds[key]);
    }
    if (!s.ok()) {
      std::string levels;
      db_->GetProperty("pmlsm.levelstats", &levels);
      FAIL() << s.ToString() << ", overwrite " << i << " of " << overwrites << "\n" << levels;
    }
  }
  printf("%d of %d overwrites found no space at first\n", static_cast<int>(refused),
         static_cast<int>(overwrites));
  ASSERT_OK(db_->WaitForCompact());
  for (uint64_t i = 0; i < keys; ++i) ASSERT_TRUE(GetIs(db_.get(), {}, Key(i), Value(Key(i), rounds[i])));
  std::string check;
  ASSERT_TRUE(db_->GetProperty("pmlsm.check", &check));
  EXPECT_EQ(check, "OK");
}

INSTANTIATE_TEST_SUITE_P(Styles, ExtraSpaceTest,
                         testing::Values(CompactionStyle::kTiered, CompactionStyle::kLeveled,
                                         CompactionStyle::kLazyLeveled),
                         [](const auto& style) { return std::string(ToString(style.param)); });

}  // namespace
}  // namespace pmlsm
