// Random operations on a DB and on a std::map; at each check all readers must agree with the map.
//
// PMLSM_MODEL_SEED=n replays one seed, PMLSM_MODEL_STEPS=n sets the length, PMLSM_MODEL_SECONDS=n goes on
// with further seeds for that long. Every failure prints the line that replays it.
#include <chrono>
#include <tuple>

#include "test/db/db_test_support.h"

namespace pmlsm {
namespace {

constexpr uint64_t kFirstSeed = 20240607;
constexpr uint64_t kSteps = 4000;

// Orders by length first: unlike either built-in order.
class LengthFirstComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.LengthFirst"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
};

class Walk {
 public:
  Walk(FailureAtomicity failure_atomicity, MemTableType memtable, uint64_t seed)
      : random_(seed), options_(TinyOptions()) {
    static const LengthFirstComparator length_first;
    options_.failure_atomicity = failure_atomicity;
    options_.memtable = memtable;
    options_.max_pmem_bytes = uint64_t{random_.OneIn(2) ? 64u : 192u} << 20;
    options_.extent_bytes = size_t{4096} << random_.Uniform(4);
    options_.size_ratio = 2 + static_cast<int>(random_.Uniform(3));
    options_.num_levels = 1 + static_cast<int>(random_.Uniform(5));
    options_.compaction_style = static_cast<CompactionStyle>(random_.Uniform(3));
    options_.write_buffer_size = size_t{16 << 10} << random_.Uniform(3);
    options_.node_bytes = size_t{256} << random_.Uniform(4);
    options_.filter_bits_per_key = static_cast<int>(random_.Uniform(3)) * 6;
    options_.max_background_jobs = 1 + static_cast<int>(random_.Uniform(3));
    options_.max_write_buffer_number = 2 + static_cast<int>(random_.Uniform(3));
    options_.merge_order = static_cast<MergeOrder>(random_.Uniform(3));
    options_.merge_destination = static_cast<MergeDestination>(random_.Uniform(3));
    switch (random_.Uniform(4)) {
      case 0:
        options_.comparator = ReverseBytewiseComparator();
        break;
      case 1:
        options_.comparator = &length_first;
        break;
      default:
        break;
    }
    model_ = Model(ComparatorLess{options_.comparator});
    key_space_ = 1 + random_.Uniform(random_.OneIn(3) ? 40 : 2000);
  }

  void Run(uint64_t steps) {
    Open();
    for (step_ = 0; step_ < steps && !::testing::Test::HasFatalFailure(); ++step_) {
      SCOPED_TRACE("step " + std::to_string(step_));
      Step();
    }
    if (::testing::Test::HasFatalFailure()) return;
    CheckAll();
    ReleaseSnapshots();
    Reopen();
    CheckAll();
  }
  const Options& options() const { return options_; }

 private:
  struct Held {
    const Snapshot* snapshot;
    Model model;
  };

  void Open() { ASSERT_OK(DB::Open(options_, dir_ / "db", &db_)); }

  void Step() {
    const uint64_t dice = random_.Uniform(1000);
    if (dice < 470) return Put();
    if (dice < 500) return PutOnceOrSingleDelete();
    if (dice < 650) return Delete();
    if (dice < 750) return WriteBatchOfMany();
    if (dice < 880) return CheckSome();
    if (dice < 930) return WalkIterator();
    if (dice < 950) return TakeOrReleaseSnapshot();
    if (dice < 970) return Flush();
    if (dice < 980) return Compact();
    if (dice < 990) return CheckAll();
    if (dice < 993) {
      ReleaseSnapshots();
      return Reopen();
    }
  }

  std::string Key() {
    // A few awkward ones among many plain ones.
    static const std::string awkward[] = {"",
                                          std::string(1, '\0'),
                                          std::string(2, '\0'),
                                          "a",
                                          std::string("a\0b", 3),
                                          "\xff",
                                          "\xff\xff\xff",
                                          std::string(300, 'p'),
                                          std::string(300, 'p') + "q",
                                          std::string(5000, 'l')};
    if (random_.OneIn(12)) return awkward[random_.Uniform(10)];
    std::string key = "k" + std::to_string(random_.Uniform(key_space_));
    if (random_.OneIn(3)) key = std::string(random_.Uniform(10), '0') + key;
    return key;
  }
  std::string Value() {
    switch (random_.Uniform(40)) {
      case 0:
        return "";
      case 1:  // larger than a node
        return RandomBytes(&random_, 300 + random_.Uniform(8000));
      case 2:  // larger than a table or the memtable now and then
        return random_.OneIn(10) ? RandomBytes(&random_, random_.Uniform(200 << 10)) : "x";
      default:
        return std::to_string(step_) + std::string(random_.Uniform(120), 'v');
    }
  }
  WriteOptions HowToWrite() {
    WriteOptions write;
    write.sync = !random_.OneIn(3);
    return write;
  }

  void Put() {
    const std::string key = Key();
    const std::string value = Value();
    ASSERT_OK(db_->Put(HowToWrite(), key, value));
    model_[key] = value;
  }
  void Delete() {
    const std::string key = Key();
    ASSERT_OK(db_->Delete(HowToWrite(), key));
    model_.erase(key);
  }
  // Keys that nothing else writes.
  std::string OnceKey() { return "once" + std::to_string(random_.Uniform(1 + key_space_ / 4)); }
  void PutOnceOrSingleDelete() {
    const std::string key = OnceKey();
    if (model_.erase(key) != 0) {
      ASSERT_OK(db_->SingleDelete(HowToWrite(), key));
    } else {
      model_[key] = Value();
      ASSERT_OK(db_->Put(HowToWrite(), key, model_[key]));
    }
  }
  void WriteBatchOfMany() {
    WriteBatch batch;
    Model after = model_;
    std::vector<Model> save_points;
    for (uint64_t i = random_.Uniform(30); i > 0; --i) {
      const std::string key = Key();
      switch (random_.Uniform(9)) {
        case 0:
          batch.SetSavePoint();
          save_points.push_back(after);
          break;
        case 1:
          if (save_points.empty()) {
            ASSERT_TRUE(batch.RollbackToSavePoint().IsNotFound());
          } else {
            ASSERT_OK(batch.RollbackToSavePoint());
            after = save_points.back();
            save_points.pop_back();
          }
          break;
        case 2:
          if (save_points.empty()) break;
          ASSERT_OK(batch.PopSavePoint());
          save_points.pop_back();
          break;
        case 3:
        case 4:
          ASSERT_OK(batch.Delete(key));
          after.erase(key);
          break;
        case 5: {
          const std::string once = OnceKey();
          if (after.erase(once) != 0) {
            ASSERT_OK(batch.SingleDelete(once));
          } else {
            after[once] = Value();
            ASSERT_OK(batch.Put(once, after[once]));
          }
          break;
        }
        default:
          after[key] = Value();
          ASSERT_OK(batch.Put(key, after[key]));
      }
    }
    ASSERT_OK(db_->Write(HowToWrite(), &batch));
    model_ = std::move(after);
  }

  void TakeOrReleaseSnapshot() {
    if (held_.size() < 6 && !random_.OneIn(3)) {
      held_.push_back({db_->GetSnapshot(), model_});
      return;
    }
    if (held_.empty()) return;
    const size_t which = random_.Uniform(held_.size());
    db_->ReleaseSnapshot(held_[which].snapshot);
    held_.erase(held_.begin() + which);
  }
  void ReleaseSnapshots() {
    for (const Held& held : held_) db_->ReleaseSnapshot(held.snapshot);
    held_.clear();
  }
  void Flush() {
    FlushOptions flush;
    flush.wait = !random_.OneIn(4);
    ASSERT_OK(db_->Flush(flush));
  }
  void Compact() {
    const std::string a = Key();
    const std::string b = Key();
    const bool ascending = options_.comparator->Compare(a, b) <= 0;
    const Slice begin(ascending ? a : b);
    const Slice end(ascending ? b : a);
    ASSERT_OK(db_->CompactRange({}, random_.OneIn(2) ? nullptr : &begin, random_.OneIn(2) ? nullptr : &end));
  }
  void Reopen() {
    ReleaseSnapshots();
    if (random_.OneIn(2)) {
      ASSERT_OK(db_->Close());
    } else if (random_.OneIn(2)) {
      // As a kill would leave it.
      ASSERT_OK(db_->WaitForCompact());
      CopyTree(dir_ / "db", dir_ / "copy");
      db_.reset();
      std::filesystem::remove_all(dir_ / "db");
      std::filesystem::rename(dir_ / "copy", dir_ / "db");
    }
    db_.reset();
    options_.size_ratio = 2 + static_cast<int>(random_.Uniform(3));
    options_.num_levels = 1 + static_cast<int>(random_.Uniform(5));
    options_.compaction_style = static_cast<CompactionStyle>(random_.Uniform(3));
    options_.memtable = random_.OneIn(4) ? MemTableType::kHash : options_.memtable;
    options_.failure_atomicity =
        random_.OneIn(4) ? static_cast<FailureAtomicity>(random_.Uniform(3)) : options_.failure_atomicity;
    Open();
  }

  // The live state, or a snapshot, as ReadOptions and model.
  std::pair<ReadOptions, const Model*> AnyState() {
    ReadOptions read;
    read.verify_checksums = !random_.OneIn(4);
    if (held_.empty() || random_.OneIn(2)) return {read, &model_};
    const Held& held = held_[random_.Uniform(held_.size())];
    read.snapshot = held.snapshot;
    return {read, &held.model};
  }

  void CheckSome() {
    const auto [read, model] = AnyState();
    for (int i = 0; i < 5; ++i) {
      const std::string key = i == 0 ? OnceKey() : Key();
      ASSERT_TRUE(GetIs(db_.get(), read, key, Find(*model, key)));
    }
  }
  void CheckAll() {
    std::vector<std::string> probes;
    for (int i = 0; i < 50; ++i) probes.push_back(random_.OneIn(5) ? OnceKey() : Key());
    ExpectReadersAgree(db_.get(), {}, model_, probes);
    for (const Held& held : held_) {
      if (::testing::Test::HasFatalFailure()) return;
      ReadOptions read;
      read.snapshot = held.snapshot;
      ExpectReadersAgree(db_.get(), read, held.model, probes);
    }
  }

  // Random moves of one iterator with random bounds; writes go on beside it.
  void WalkIterator() {
    auto [read, whole] = AnyState();
    const std::string lower = Key();
    const std::string upper = Key();
    const bool has_lower = random_.OneIn(2);
    const bool has_upper = random_.OneIn(2);
    Slice lower_slice(lower);
    Slice upper_slice(upper);
    if (has_lower) read.iterate_lower_bound = &lower_slice;
    if (has_upper) read.iterate_upper_bound = &upper_slice;
    const std::unique_ptr<Iterator> it(db_->NewIterator(read));
    lower_slice = upper_slice = Slice("changed");
    Model model(whole->key_comp());
    for (const auto& entry : *whole) {
      if (has_lower && whole->key_comp()(entry.first, lower)) continue;
      if (has_upper && !whole->key_comp()(entry.first, upper)) continue;
      model.insert(model.end(), entry);
    }
    auto at = model.end();
    std::string trail =
        "bounds [" + (has_lower ? Show(lower) : "") + ", " + (has_upper ? Show(upper) : "") + ")";
    for (uint64_t moves = 5 + random_.Uniform(30); moves > 0; --moves) {
      const std::string target = Key();
      switch (random_.Uniform(it->Valid() ? 8 : 4)) {
        case 0:
          it->SeekToFirst();
          at = model.begin();
          trail += " SeekToFirst";
          break;
        case 1:
          it->SeekToLast();
          at = model.empty() ? model.end() : std::prev(model.end());
          trail += " SeekToLast";
          break;
        case 2:
          it->Seek(target);
          at = model.lower_bound(target);
          trail += " Seek(" + Show(target) + ")";
          break;
        case 3: {
          it->SeekForPrev(target);
          const auto above = model.upper_bound(target);
          at = above == model.begin() ? model.end() : std::prev(above);
          trail += " SeekForPrev(" + Show(target) + ")";
          break;
        }
        case 4:
        case 5:
          it->Next();
          ++at;
          trail += " Next";
          break;
        default:
          it->Prev();
          at = at == model.begin() ? model.end() : std::prev(at);
          trail += " Prev";
      }
      ASSERT_TRUE(IteratorIs(*it, model, at, trail));
      if (random_.OneIn(10) && whole != &model_) Put();
    }
  }

  Random random_;
  Options options_;
  TestDir dir_;
  Model model_;
  std::vector<Held> held_;
  std::unique_ptr<DB> db_;
  uint64_t key_space_ = 1;
  uint64_t step_ = 0;
};

class ModelTest : public ::testing::TestWithParam<std::tuple<FailureAtomicity, MemTableType>> {};

TEST_P(ModelTest, ReadersAgreeWithAMapAfterRandomOperations) {
  const auto [failure_atomicity, memtable] = GetParam();
  const bool one = getenv("PMLSM_MODEL_SEED") != nullptr;
  const uint64_t steps = SeedFromEnvironment("PMLSM_MODEL_STEPS", kSteps);
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(SeedFromEnvironment("PMLSM_MODEL_SECONDS", 0));
  const uint64_t mode = 2 * static_cast<uint64_t>(failure_atomicity) + static_cast<uint64_t>(memtable);
  uint64_t seed = SeedFromEnvironment("PMLSM_MODEL_SEED", kFirstSeed + 1000 * mode);
  do {
    printf("seed %lu\n", static_cast<unsigned long>(seed));
    Walk walk(failure_atomicity, memtable, seed);
    SCOPED_TRACE("replay: PMLSM_MODEL_SEED=" + std::to_string(seed) +
                 " PMLSM_MODEL_STEPS=" + std::to_string(steps) + " model_test --gtest_filter=*" +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name() + "\n" +
                 walk.options().ToString());
    walk.Run(steps);
    ++seed;
  } while (!one && !HasFatalFailure() && std::chrono::steady_clock::now() < end);
}

std::string NameOf(const ::testing::TestParamInfo<ModelTest::ParamType>& info) {
  return std::string(ToString(std::get<0>(info.param))) + "_" + ToString(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Modes, ModelTest,
                         ::testing::Combine(::testing::Values(FailureAtomicity::kTransaction,
                                                              FailureAtomicity::kIndividual,
                                                              FailureAtomicity::kAtomic),
                                            ::testing::Values(MemTableType::kSorted, MemTableType::kHash)),
                         NameOf);

}  // namespace
}  // namespace pmlsm
