// A writer process of several threads is killed at random moments; whatever a thread was told was written must be
// there, its operation in flight whole or not at all.
//
// argv[1] is kill_writer. PMLSM_KILL_SEED=n replays a seed as far as timing allows, PMLSM_KILL_ROUNDS=n sets
// the number of kills.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <tuple>

#include "test/db/kill_ops.h"

namespace pmlsm {
namespace {

constexpr uint64_t kSeed = 99;
constexpr uint64_t kRounds = 9;
constexpr size_t kThreads = 3;

std::string writer;  // the program

class Child {
 public:
  Child(const std::vector<std::string>& arguments) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    pid_ = fork();
    CHECK(pid_ >= 0);
    if (pid_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      close(ends[1]);
      std::vector<char*> argv;
      for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
      argv.push_back(nullptr);
      execv(argv[0], argv.data());
      _exit(127);
    }
    close(ends[1]);
    pipe_ = ends[0];
  }
  // Reads until so many acknowledgements have come; false if the writer ended before.
  bool WaitFor(uint64_t acknowledged) {
    while (acknowledged_.size() < acknowledged) {
      if (!ReadSome()) return false;
    }
    return true;
  }
  // Kills it; all acknowledgements that it gave, by the threads' names.
  const std::string& Kill() {
    kill(pid_, SIGKILL);
    while (ReadSome()) {
    }
    close(pipe_);
    int status = 0;
    CHECK(waitpid(pid_, &status, 0) == pid_);
    killed_ = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    return acknowledged_;
  }
  bool killed() const { return killed_; }

 private:
  bool ReadSome() {
    char buffer[4096];
    const ssize_t n = read(pipe_, buffer, sizeof(buffer));
    if (n <= 0) return false;
    acknowledged_.append(buffer, n);
    return true;
  }
  pid_t pid_ = 0;
  int pipe_ = 0;
  std::string acknowledged_;
  bool killed_ = false;
};

// What a thread's operations before `next` leave.
struct Written {
  Model model;
  uint64_t next = 0;
};
using AllWritten = std::array<Written, kThreads>;

class KillTest : public ::testing::TestWithParam<std::tuple<FailureAtomicity, MemTableType>> {
 protected:
  FailureAtomicity failure_atomicity() const { return std::get<0>(GetParam()); }
  MemTableType memtable() const { return std::get<1>(GetParam()); }

  std::vector<std::string> Arguments(const std::string& db, uint64_t seed, const AllWritten& written) const {
    std::vector<std::string> arguments = {writer, db, std::to_string(seed),
                                          std::to_string(static_cast<int>(failure_atomicity())),
                                          std::to_string(static_cast<int>(memtable()))};
    for (const Written& thread : written) arguments.push_back(std::to_string(thread.next));
    return arguments;
  }
};

void Acknowledge(const std::string& names, uint64_t seed, AllWritten* written) {
  for (const char name : names) {
    const size_t thread = name - KillThreadName(0);
    ASSERT_LT(thread, kThreads);
    Written* const its = &(*written)[thread];
    KillOperation(seed, thread, its->next++).Apply(&its->model);
  }
}

Model Contents(DB* db) {
  Model contents;
  const std::unique_ptr<Iterator> it(db->NewIterator({}));
  for (it->SeekToFirst(); it->Valid(); it->Next()) contents[it->key().ToString()] = it->value().ToString();
  EXPECT_OK(it->status());
  return contents;
}

std::string FirstDifference(const Model& a, const Model& b) {
  for (const auto& [key, value] : a) {
    const auto there = Find(b, key);
    if (there != value) return key + ": " + Show(value) + " against " + (there ? Show(*there) : "nothing");
  }
  for (const auto& [key, value] : b) {
    if (a.count(key) == 0) return key + ": nothing against " + Show(value);
  }
  return "none";
}

// Opens `path` and finds out whether it holds each thread's operations before `next`, or the one in flight, too.
void ExpectOneOf(const Options& options, const std::string& path, uint64_t seed, AllWritten* written) {
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(options, path, &db));
  const Model contents = Contents(db.get());
  Model all;
  for (size_t thread = 0; thread < kThreads; ++thread) {
    Written* const its = &(*written)[thread];
    const Model there(contents.lower_bound(std::string(1, KillThreadName(thread))),
                      contents.lower_bound(std::string(1, KillThreadName(thread + 1))));
    if (there != its->model) {
      Model with_next = its->model;
      KillOperation(seed, thread, its->next).Apply(&with_next);
      ASSERT_EQ(there, with_next) << "thread " << thread << ", operation " << its->next
                                  << "; without the one in flight: " << FirstDifference(there, its->model)
                                  << "; with it: " << FirstDifference(there, with_next);
      its->model = with_next;
      ++its->next;
    }
    all.insert(its->model.begin(), its->model.end());
  }
  ASSERT_NO_FATAL_FAILURE(ExpectHolds(db.get(), all, {"", "zzz"}));
}

TEST_P(KillTest, AcknowledgedWritesSurviveAKillAtAnyMoment) {
  const uint64_t seed = SeedFromEnvironment("PMLSM_KILL_SEED", kSeed);
  const uint64_t rounds = SeedFromEnvironment("PMLSM_KILL_ROUNDS", kRounds);
  printf("PMLSM_KILL_SEED=%lu PMLSM_KILL_ROUNDS=%lu\n", static_cast<unsigned long>(seed),
         static_cast<unsigned long>(rounds));
  Random random(seed);
  TestDir dir;
  const Options options = KillOptions(failure_atomicity(), memtable());
  AllWritten written;
  for (uint64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Child child(Arguments(dir / "db", seed, written));
    ASSERT_TRUE(child.WaitFor(1 + random.Uniform(random.OneIn(3) ? 20 : 2000)));
    // The kill hits wherever the writer has got to by then.
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(random.Uniform(300));
    while (std::chrono::steady_clock::now() < end) {
    }
    ASSERT_NO_FATAL_FAILURE(Acknowledge(child.Kill(), seed, &written));
    ASSERT_TRUE(child.killed());
    // Looked at in a copy, the DB itself goes on as the kill left it.
    const bool in_copy = random.OneIn(2);
    if (in_copy) CopyTree(dir / "db", dir / "copy");
    ASSERT_NO_FATAL_FAILURE(ExpectOneOf(options, dir / (in_copy ? "copy" : "db"), seed, &written));
    if (in_copy) std::filesystem::remove_all(dir / "copy");
  }
}

TEST_P(KillTest, AKillInCreationOrRecoveryLeavesADBThatOpens) {
  const uint64_t seed = SeedFromEnvironment("PMLSM_KILL_SEED", kSeed);
  printf("PMLSM_KILL_SEED=%lu\n", static_cast<unsigned long>(seed));
  Random random(seed + 1);
  TestDir dir;
  const Options options = KillOptions(failure_atomicity(), memtable());
  for (int db = 0; db < 2; ++db) {
    const std::string path = dir / ("db" + std::to_string(db));
    AllWritten written;
    for (int round = 0; round < 6; ++round) {
      SCOPED_TRACE("db " + std::to_string(db) + ", round " + std::to_string(round));
      Child child(Arguments(path, seed, written));
      if (round == 4) {
        ASSERT_TRUE(child.WaitFor(200));  // something to recover
      }
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(random.Uniform(30000));
      while (std::chrono::steady_clock::now() < end) {
      }
      ASSERT_NO_FATAL_FAILURE(Acknowledge(child.Kill(), seed, &written));
      ASSERT_TRUE(child.killed());
      // The operation in flight counts or not; the writer must not skip or repeat it.
      if (!std::filesystem::exists(path)) continue;
      CopyTree(path, dir / "copy");
      ASSERT_NO_FATAL_FAILURE(ExpectOneOf(options, dir / "copy", seed, &written));
      std::filesystem::remove_all(dir / "copy");
    }
    ASSERT_NO_FATAL_FAILURE(ExpectOneOf(options, path, seed, &written));
    std::filesystem::remove_all(path);
  }
}

std::string NameOf(const ::testing::TestParamInfo<KillTest::ParamType>& info) {
  return std::string(ToString(std::get<0>(info.param))) + "_" + ToString(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Modes, KillTest,
                         ::testing::Combine(::testing::Values(FailureAtomicity::kTransaction,
                                                              FailureAtomicity::kIndividual,
                                                              FailureAtomicity::kAtomic),
                                            ::testing::Values(MemTableType::kSorted, MemTableType::kHash)),
                         NameOf);

}  // namespace
}  // namespace pmlsm

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  CHECK(argc == 2);
  pmlsm::writer = argv[1];
  return RUN_ALL_TESTS();
}
