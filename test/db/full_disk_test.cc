// A file system that fills up while the pool has not grown to its largest size, and gets space back. Needs a
// tmpfs of its own, hence a mount namespace: where none can be had, the test says so and is skipped.
#include <sched.h>
#include <sys/mount.h>

#include <chrono>
#include <thread>

#include "test/db/db_test_support.h"

namespace pmlsm {
namespace {

std::string disk;  // the mount point; empty if there is none

void MountDisk() {
  static TestDir dir;
  if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return;
  // Nothing of it gets out.
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
  if (mount("pmlsm_test", dir.path().c_str(), "tmpfs", 0, "size=128m") == 0) disk = dir.path();
}

class FullDiskTest : public ::testing::TestWithParam<FailureAtomicity> {
 protected:
  void SetUp() override {
    if (disk.empty()) GTEST_SKIP() << "no mount namespace";
    ASSERT_NO_FATAL_FAILURE(Open());
  }
  void TearDown() override {
    if (disk.empty()) return;
    db_.reset();
    for (const auto& entry : std::filesystem::directory_iterator(disk)) std::filesystem::remove_all(entry);
  }
  void Open() {
    Options options = TinyOptions();
    options.failure_atomicity = GetParam();
    options.max_pmem_bytes = uint64_t{96} << 20;
    ASSERT_OK(DB::Open(options, disk + "/db", &db_));
  }
  // Takes all that is left.
  static void FillDisk() {
    const int file = open((disk + "/filler").c_str(), O_CREAT | O_WRONLY, 0600);
    CHECK(file >= 0);
    off_t end = 0;
    for (off_t step = 16 << 20; step >= 4096;) {
      if (posix_fallocate(file, end, step) == 0) {
        end += step;
      } else {
        step /= 2;
      }
    }
    close(file);
  }
  static void FreeDisk() { std::filesystem::remove(disk + "/filler"); }

  Status Put(int key, size_t bytes) {
    const std::string name = "key" + std::to_string(key);
    const std::string value = RandomBytes(&random_, bytes);
    const Status s = db_->Put({}, name, value);
    if (s.ok()) model_[name] = value;
    return s;
  }
  void ExpectWritesComeBack() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    Status s = Put(0, 100);
    while (s.IsNoSpace() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      s = Put(0, 100);
    }
    ASSERT_OK(s);
  }

  std::unique_ptr<DB> db_;
  Random random_{17};
  Model model_;
};

TEST_P(FullDiskTest, WritesStopAndComeBackWithTheSpace) {
  int key = 0;
  for (int round = 0; round < 4; ++round) {
    SCOPED_TRACE(round);
    for (int i = 0; i < 3000; ++i) ASSERT_OK(Put(key++, 1000));
    FillDisk();  // flushes and merges are under way
    Status s;
    while ((s = Put(key, 1000)).ok()) ++key;
    ASSERT_TRUE(s.IsNoSpace()) << s.ToString();
    ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
    for (int i = 0; i < 200; ++i) {
      const std::string name = "key" + std::to_string(random_.Uniform(key));
      ASSERT_OK(db_->Delete({}, name));
      model_.erase(name);
    }
    if (round % 2 == 1) {  // it opens on a full disk, too
      ASSERT_OK(db_->Close());
      db_.reset();
      ASSERT_NO_FATAL_FAILURE(Open());
      ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
    }
    FreeDisk();
    ASSERT_NO_FATAL_FAILURE(ExpectWritesComeBack());
  }
  ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
  ASSERT_OK(db_->Close());
  db_.reset();
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db_.get(), model_));
}

TEST_P(FullDiskTest, ADBThatCannotBeMadeLeavesNothingBehind) {
  db_.reset();
  ASSERT_OK(DestroyDB(disk + "/db", {}));
  FillDisk();
  const Status s = DB::Open(TinyOptions(), disk + "/db", &db_);
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
  FreeDisk();
  ASSERT_NO_FATAL_FAILURE(Open());
  ASSERT_OK(Put(1, 10));
}

INSTANTIATE_TEST_SUITE_P(Modes, FullDiskTest,
                         ::testing::Values(FailureAtomicity::kTransaction, FailureAtomicity::kIndividual,
                                           FailureAtomicity::kAtomic),
                         [](const auto& info) { return std::string(ToString(info.param)); });

}  // namespace
}  // namespace pmlsm

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  pmlsm::MountDisk();
  return RUN_ALL_TESTS();
}
