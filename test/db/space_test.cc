// A pool that fills up: NoSpace before anything is logged, reads go on, deletes work, writes come back with
// the space.
#include "test/db/db_test_support.h"

namespace pmlsm {
namespace {

class SpaceTest : public ::testing::TestWithParam<FailureAtomicity> {
 protected:
  SpaceTest() {
    options_ = TinyOptions();
    options_.failure_atomicity = GetParam();
  }
  void Open() { ASSERT_OK(DB::Open(options_, dir_ / "db", &db_)); }
  static std::string Key(int i) { return "key" + std::to_string(1000000 + i); }

  // Until a Put is NoSpace; every acknowledged one is in the model.
  void Fill(size_t value_bytes) {
    Random random(7);
    for (int i = 0;; ++i) {
      ASSERT_LT(i, 10000000) << "a pool of 64 MiB never fills";
      const std::string value = RandomBytes(&random, value_bytes);
      const Status s = db_->Put({}, Key(i), value);
      if (!s.ok()) {
        ASSERT_TRUE(s.IsNoSpace()) << s.ToString();
        return;
      }
      model_[Key(i)] = value;
    }
  }

  void TearDown() override {
    if (!HasFailure()) return;
    std::string levels;
    if (db_ != nullptr && db_->GetProperty("pmlsm.levelstats", &levels)) printf("%s\n", levels.c_str());
    printf("%s\n", ReadFile(dir_ / "db/LOG").c_str());
  }

  TestDir dir_;
  Options options_;
  std::unique_ptr<DB> db_;
  Model model_;
};

TEST_P(SpaceTest, FU1_ABatchThatDoesNotFitChangesNothingAndDeletesMakeRoom) {
  Open();
  ASSERT_NO_FATAL_FAILURE(Fill(1000));
  EXPECT_GT(model_.size(), 15000u) << "most of the pool is for data";

  WriteBatch batch;
  Random random(8);
  for (int i = 0; i < 6400; ++i)
    ASSERT_OK(batch.Put("batch" + std::to_string(i), RandomBytes(&random, 1000)));
  const SequenceNumber before = db_->GetLatestSequenceNumber();
  EXPECT_TRUE(db_->Write({}, &batch).IsNoSpace());
  EXPECT_EQ(db_->GetLatestSequenceNumber(), before);
  EXPECT_TRUE(GetIs(db_.get(), {}, "batch0", std::nullopt));
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));

  ASSERT_OK(db_->Close());
  db_.reset();
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_, {"batch0", "batch6399"}));

  // Every second key goes, then the space of what was deleted is there again.
  int i = 0;
  for (auto it = model_.begin(); it != model_.end(); ++i) {
    if (i % 2 == 0) {
      ++it;
      continue;
    }
    ASSERT_OK(db_->Delete({}, it->first));
    it = model_.erase(it);
  }
  ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
  ASSERT_OK(db_->Write({}, &batch));
  EXPECT_TRUE(GetIs(db_.get(), {}, "batch0", [] {
    Random same(8);
    return RandomBytes(&same, 1000);
  }()));
  ASSERT_OK(db_->Put({}, "after", "1"));
}

TEST_P(SpaceTest, FillingAndOverwritingForEverKeepsAnswersRight) {
  Open();
  ASSERT_NO_FATAL_FAILURE(Fill(3000));
  Random random(9);
  int accepted = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string key = Key(static_cast<int>(random.Uniform(model_.size())));
    if (random.OneIn(2)) {
      ASSERT_OK(db_->Delete({}, key));
      model_.erase(key);
    } else {
      const std::string value = RandomBytes(&random, random.Uniform(3000));
      const Status s = db_->Put({}, key, value);
      ASSERT_TRUE(s.ok() || s.IsNoSpace()) << s.ToString();
      if (s.ok()) model_[key] = value, ++accepted;
    }
  }
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
  ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
  ASSERT_OK(db_->Put({}, "after", "1"));
  model_["after"] = "1";
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
}

TEST_P(SpaceTest, WhatReadersHoldComesBackWithThem) {
  Open();
  ASSERT_NO_FATAL_FAILURE(Fill(1000));
  std::unique_ptr<Iterator> it(db_->NewIterator({}));
  const Model seen = model_;
  bool refused = false;
  for (auto at = model_.begin(); at != model_.end() && !refused;) {
    const Status s = db_->Delete({}, at->first);
    ASSERT_TRUE(s.ok() || s.IsNoSpace()) << s.ToString();
    refused = !s.ok();
    if (s.ok()) at = model_.erase(at);
  }
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
  auto expected = seen.begin();
  for (it->SeekToFirst(); it->Valid(); it->Next(), ++expected) {
    ASSERT_TRUE(expected != seen.end());
    ASSERT_EQ(it->key().ToString(), expected->first);
    ASSERT_EQ(it->value().ToString(), expected->second);
  }
  ASSERT_OK(it->status());
  ASSERT_TRUE(expected == seen.end());
  it.reset();

  for (auto at = model_.begin(); at != model_.end(); at = model_.erase(at))
    ASSERT_OK(db_->Delete({}, at->first));
  ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
  uint64_t free = 0;
  ASSERT_TRUE(db_->GetIntProperty("pmlsm.pmem-free-bytes", &free));
  EXPECT_GT(free, uint64_t{40} << 20);
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
  ASSERT_NO_FATAL_FAILURE(Fill(1000));
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
}

INSTANTIATE_TEST_SUITE_P(Modes, SpaceTest,
                         ::testing::Values(FailureAtomicity::kTransaction, FailureAtomicity::kIndividual,
                                           FailureAtomicity::kAtomic),
                         [](const auto& info) { return std::string(ToString(info.param)); });

}  // namespace
}  // namespace pmlsm
