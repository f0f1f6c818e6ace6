// Random operations on the families of a DB, and batches across them, against a std::map each. Families come and go;
// the DB is closed, and killed, in between.
//
// PMLSM_FAMILY_SEED=n replays one seed, PMLSM_FAMILY_STEPS=n sets the length. Every failure prints the line that
// replays it.
#include "test/db/family_test_support.h"

namespace pmlsm {
namespace {

constexpr uint64_t kFirstSeed = 20250131;
constexpr uint64_t kSteps = 1500;

class FamilyModelTest : public FamilyTest, public ::testing::WithParamInterface<FailureAtomicity> {
 protected:
  void Run(uint64_t seed) {
    random_ = Random(seed);
    options().failure_atomicity = GetParam();
    options().max_background_jobs = 1 + static_cast<int>(random_.Uniform(3));
    if (random_.OneIn(2)) options().db_write_buffer_size = 64 << 10;
    if (random_.OneIn(2)) options().max_total_wal_bytes = 256 << 10;
    family_options("default") = RandomOptions();
    models_.emplace("default", NewModel("default"));
    Open({"default"});
    const uint64_t steps = SeedFromEnvironment("PMLSM_FAMILY_STEPS", kSteps);
    for (step_ = 0; step_ < steps && !HasFatalFailure(); ++step_) {
      SCOPED_TRACE("step " + std::to_string(step_));
      Step();
    }
    if (!HasFatalFailure()) CheckAll();
  }

 private:
  struct Held {
    const Snapshot* snapshot;
    std::map<std::string, Model> models;
  };

  ColumnFamilyOptions RandomOptions() {
    ColumnFamilyOptions options = FamilyOptions();
    options.memtable = static_cast<MemTableType>(random_.Uniform(2));
    options.compaction_style = static_cast<CompactionStyle>(random_.Uniform(3));
    options.write_buffer_size = size_t{16 << 10} << random_.Uniform(3);
    options.size_ratio = 2 + static_cast<int>(random_.Uniform(3));
    if (random_.OneIn(2)) options.comparator = ReverseBytewiseComparator();
    return options;
  }
  Model NewModel(const std::string& name) { return Model(ComparatorLess{family_options(name).comparator}); }
  std::string AnyName() {
    auto it = models_.begin();
    std::advance(it, random_.Uniform(models_.size()));
    return it->first;
  }
  std::string Key() { return "k" + std::to_string(random_.Uniform(400)); }
  std::string Value() {
    return std::to_string(step_) +
           std::string(random_.OneIn(100) ? random_.Uniform(30000) : random_.Uniform(200), 'v');
  }

  void Step() {
    const uint64_t dice = random_.Uniform(1000);
    if (dice < 400) return WriteOne();
    if (dice < 700) return WriteAcross();
    if (dice < 800) return CheckOne();
    if (dice < 850) return Flush();
    if (dice < 870) return Compact();
    if (dice < 910) return CreateOne();
    if (dice < 935) return DropOne();
    if (dice < 960) return SnapshotOrRelease();
    if (dice < 980) return CheckAll();
    if (dice >= 988) return;
    ReleaseSnapshots();
    if (dice < 984) return Reopen();
    Kill();
  }

  void WriteOne() {
    const std::string name = AnyName();
    const std::string key = Key();
    if (random_.OneIn(4)) {
      ASSERT_OK(db()->Delete(WriteOptions(), handle(name), key));
      models_.at(name).erase(key);
    } else {
      const std::string value = Value();
      ASSERT_OK(db()->Put(WriteOptions(), handle(name), key, value));
      models_.at(name)[key] = value;
    }
  }
  void WriteAcross() {
    WriteBatch batch;
    for (uint64_t i = random_.Uniform(20); i-- > 0;) {
      const std::string name = AnyName();
      const std::string key = Key();
      if (random_.OneIn(4)) {
        ASSERT_OK(batch.Delete(handle(name), key));
        models_.at(name).erase(key);
      } else {
        const std::string value = Value();
        ASSERT_OK(batch.Put(handle(name), key, value));
        models_.at(name)[key] = value;
      }
    }
    WriteOptions write;
    write.sync = random_.OneIn(2);
    ASSERT_OK(db()->Write(write, &batch));
  }
  void Flush() {
    FlushOptions flush;
    flush.wait = random_.OneIn(2);
    std::vector<ColumnFamilyHandle*> some;
    for (uint64_t i = random_.Uniform(3) + 1; i-- > 0;) some.push_back(handle(AnyName()));
    ASSERT_OK(db()->Flush(flush, some));
  }
  void Compact() {
    ASSERT_OK(db()->CompactRange(CompactRangeOptions(), handle(AnyName()), nullptr, nullptr));
  }
  void CreateOne() {
    if (models_.size() > 6) return;
    const std::string name = "f" + std::to_string(random_.Uniform(8));  // also names of dropped ones
    if (models_.count(name) != 0) return;
    ASSERT_NO_FATAL_FAILURE(Create(name, RandomOptions()));
    models_.emplace(name, NewModel(name));
  }
  void DropOne() {
    const std::string name = AnyName();
    if (name == "default") return;
    if (random_.OneIn(2)) {  // read what is gone
      ASSERT_OK(db()->DropColumnFamily(handle(name)));
      ASSERT_TRUE(Holds(name, models_.at(name)));
      Forget(name);
    } else {
      Drop(name);
    }
    models_.erase(name);
    for (Held& held : snapshots_) held.models.erase(name);
  }
  void SnapshotOrRelease() {
    if (snapshots_.size() < 3) {
      snapshots_.push_back({db()->GetSnapshot(), models_});
    } else {
      ReleaseSnapshots();
    }
  }
  void ReleaseSnapshots() {
    for (const Held& held : snapshots_) db()->ReleaseSnapshot(held.snapshot);
    snapshots_.clear();
  }
  void CheckOne() {
    const std::string name = AnyName();
    ASSERT_TRUE(Holds(name, models_.at(name)));
  }
  void CheckAll() {
    for (const auto& [name, model] : models_) ASSERT_TRUE(Holds(name, model));
    for (const Held& held : snapshots_) {
      ReadOptions then;
      then.snapshot = held.snapshot;
      for (const auto& [name, model] : held.models) ASSERT_TRUE(Holds(name, model, then));
    }
    std::string check;
    ASSERT_TRUE(db()->GetProperty("pmlsm.check", &check));
    ASSERT_EQ(check, "OK");
  }

 protected:
  // Before the DB closes.
  void TearDown() override {
    if (db() != nullptr) ReleaseSnapshots();
  }

 private:
  Random random_{0};
  uint64_t step_ = 0;
  std::map<std::string, Model> models_;
  std::vector<Held> snapshots_;
};

TEST_P(FamilyModelTest, FamiliesAgreeWithTheirModels) {
  const uint64_t seed =
      SeedFromEnvironment("PMLSM_FAMILY_SEED", kFirstSeed) + static_cast<uint64_t>(GetParam());
  SCOPED_TRACE("PMLSM_FAMILY_SEED=" + std::to_string(seed - static_cast<uint64_t>(GetParam())));
  Run(seed);
}

INSTANTIATE_TEST_SUITE_P(Modes, FamilyModelTest,
                         ::testing::Values(FailureAtomicity::kTransaction, FailureAtomicity::kIndividual,
                                           FailureAtomicity::kAtomic),
                         [](const auto& info) { return std::string(ToString(info.param)); });

}  // namespace
}  // namespace pmlsm
