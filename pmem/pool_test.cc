// Pool by its contract: what opens, what is refused and how, what survives a kill, a move, a full disk.
#include "pmem/pool.h"

#include <libpmemobj.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "pmem/store.h"
#include "pmem/test_dir.h"
#include "util/hash.h"

namespace pmlsm {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kExtent = 16 << 10;
constexpr uint64_t kClientBytes = 200000;

bool Contains(const Status& status, const std::string& text) {
  return status.ToString().find(text) != std::string::npos;
}

// Runs `body` in a child and returns its exit code. _exit: the child must not run the parent's clean-up.
int InChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Runs `body` in a child and kills it `microseconds` after it called its argument, if it is still there.
void KillAfter(unsigned microseconds, const std::function<void(const std::function<void()>&)>& body) {
  int pipe_ends[2];
  CHECK(pipe(pipe_ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    body([&] { CHECK(write(pipe_ends[1], "x", 1) == 1); });
    _exit(0);
  }
  close(pipe_ends[1]);
  char ready = 0;
  CHECK(read(pipe_ends[0], &ready, 1) == 1);
  close(pipe_ends[0]);
  usleep(microseconds);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

class PoolTest : public testing::TestWithParam<TestDir::Where> {
 protected:
  PoolTest() : dir_(GetParam()) {}

  PoolOptions Options(uint64_t max_pmem_bytes = 32 * kMiB) const {
    PoolOptions options;
    options.set_dir = dir_.Sub("db");
    options.create = true;
    options.max_pmem_bytes = max_pmem_bytes;
    options.extent_bytes = kExtent;
    options.client_bytes = kClientBytes;
    return options;
  }
  PoolOptions FileOptions() const {
    PoolOptions options = Options();
    options.set_dir.clear();
    options.pool_file = dir_.Sub("pool");
    return options;
  }
  std::string Part(int number) const {
    char name[32];
    snprintf(name, sizeof(name), "db/parts/%06d.pmem", number);
    return dir_.Sub(name);
  }

  static std::unique_ptr<Pool> MustOpen(const PoolOptions& options) {
    std::unique_ptr<Pool> pool;
    const Status status = Pool::Open(options, &pool);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return pool;
  }
  static Status OpenError(PoolOptions options) {
    options.create = false;
    std::unique_ptr<Pool> pool;
    Status status = Pool::Open(options, &pool);
    EXPECT_FALSE(status.ok());
    return status;
  }
  static bool Exists(const PoolOptions& options) {
    bool exists = false;
    EXPECT_TRUE(Pool::Exists(options, &exists).ok());
    return exists;
  }

  static void WriteWord(const Pool& pool, uint64_t offset, uint64_t value) {
    PersistCounters counters;
    Store store(pool.medium(), &counters);
    store.Store8(pool.Writable<uint64_t>(offset), value);
    store.FlushLines(pool.At(offset), 8);
    EXPECT_TRUE(store.Fence().ok());
  }
  // A pool with `groups` groups, each marked with its place, and a word of the client area.
  static void Fill(const Pool& const_pool, Pool* pool, int groups) {
    for (int i = 0; i < groups; ++i) {
      Span group;
      ASSERT_TRUE(pool->Grow(1, &group).ok());
      WriteWord(const_pool, group.offset, group.offset);
      WriteWord(const_pool, group.end() - 8, group.end());
    }
    WriteWord(const_pool, pool->header().client_offset, 4711);
  }
  static void CheckFilled(const Pool& pool, size_t groups) {
    EXPECT_EQ(pool.Groups().size(), groups);
    for (const Span& group : pool.Groups()) {
      EXPECT_EQ(*pool.At<uint64_t>(group.offset), group.offset);
      EXPECT_EQ(*pool.At<uint64_t>(group.end() - 8), group.end());
    }
    EXPECT_EQ(*pool.At<uint64_t>(pool.header().client_offset), 4711u);
  }
  void MakeFilled(int groups = 3) {
    const auto pool = MustOpen(Options());
    Fill(*pool, pool.get(), groups);
  }

  TestDir dir_;
};

TEST_P(PoolTest, ANewPoolIsEmptyAndComesBackWhatItWas) {
  EXPECT_FALSE(Exists(Options()));
  PoolHeader header;
  {
    const auto pool = MustOpen(Options());
    header = pool->header();
    EXPECT_EQ(header.magic, kPoolMagic);
    EXPECT_EQ(header.extent_bytes, kExtent);
    EXPECT_EQ(header.max_pmem_bytes, 32 * kMiB);
    EXPECT_EQ(header.client_bytes, kClientBytes);
    EXPECT_EQ(header.client_offset % 256, 0u);
    EXPECT_TRUE(pool->can_grow());
    EXPECT_EQ(pool->medium(), GetParam() == TestDir::kTmpfs ? Medium::kTmpfs : Medium::kFile);
    EXPECT_TRUE(pool->Groups().empty());
    const std::string zeros(kClientBytes, '\0');
    EXPECT_EQ(memcmp(pool->At(header.client_offset), zeros.data(), zeros.size()), 0);
    EXPECT_EQ(pool->ToOffset(pool->At(12345)), 12345u);
    Fill(*pool, pool.get(), 3);
  }
  EXPECT_TRUE(Exists(Options()));
  PoolOptions other = Options(64 * kMiB);  // later values are ignored
  other.extent_bytes = 65536;
  const auto pool = MustOpen(other);
  EXPECT_EQ(memcmp(&header, &pool->header(), sizeof(header)), 0);
  CheckFilled(*pool, 3);
}

TEST_P(PoolTest, GroupsAreWholeAlignedExtentsAndGrowToTheLimit) {
  const auto pool = MustOpen(Options(16 * kMiB));
  Span group;
  Status status;
  uint64_t total = 0;
  while ((status = pool->Grow(1, &group)).ok()) {
    EXPECT_EQ(group.offset % 4096, 0u);
    EXPECT_EQ(group.bytes % kExtent, 0u);
    EXPECT_GT(group.bytes, 0u);
    pool->Prefault(group);
    WriteWord(*pool, group.end() - 8, 1);
    total += group.bytes;
  }
  EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
  EXPECT_TRUE(Contains(status, std::to_string(16 * kMiB))) << status.ToString();
  EXPECT_GT(total, 6 * kMiB);
  EXPECT_EQ(pool->pool_bytes(), 16 * kMiB);
  EXPECT_LT(pool->GrowableBytes(), 2 * kMiB);
  EXPECT_TRUE(pool->Grow(kMiB, &group).IsNoSpace());
}

TEST_P(PoolTest, AGroupHoldsTheSpanItWasAskedFor) {
  const auto pool = MustOpen(Options(64 * kMiB));
  Span group;
  ASSERT_TRUE(pool->Grow(9 * kMiB + 1, &group).ok());
  EXPECT_GE(group.bytes, 9 * kMiB + 1);
  EXPECT_TRUE(pool->Grow(256 * kMiB, &group).IsNoSpace());
  ASSERT_TRUE(pool->Grow(1, &group).ok());
}

TEST_P(PoolTest, OpeningWithoutAPoolIsInvalidArgument) {
  EXPECT_TRUE(OpenError(Options()).IsInvalidArgument());
  TestDir::Run("mkdir " + dir_.Sub("db"));
  EXPECT_TRUE(OpenError(Options()).IsInvalidArgument());
  EXPECT_TRUE(Contains(OpenError(FileOptions()), "does not exist"));
}

TEST_P(PoolTest, BadOptionsAreRefusedAndLeaveNothing) {
  for (const uint64_t extent : {uint64_t{0}, uint64_t{2048}, uint64_t{5000}}) {
    PoolOptions options = Options();
    options.extent_bytes = extent;
    std::unique_ptr<Pool> pool;
    EXPECT_TRUE(Pool::Open(options, &pool).IsInvalidArgument());
    EXPECT_FALSE(Exists(options));
  }
  std::unique_ptr<Pool> pool;
  EXPECT_TRUE(Pool::Open(Options(8 * kMiB), &pool).IsInvalidArgument());
}

TEST_P(PoolTest, APathThatLibpmemobjCannotReadIsRefused) {
  PoolOptions options = Options();
  options.set_dir = dir_.Sub("with blank");
  std::unique_ptr<Pool> pool;
  EXPECT_TRUE(Pool::Open(options, &pool).IsInvalidArgument());
}

TEST_P(PoolTest, AMovedPoolOpensItsOwnParts) {
  MakeFilled();
  TestDir::Run("mv " + dir_.Sub("db") + " " + dir_.Sub("moved"));
  PoolOptions options = Options();
  options.set_dir = dir_.Sub("moved");
  CheckFilled(*MustOpen(options), 3);
  std::ifstream set(dir_.Sub("moved/pool.set"));
  const std::string text((std::istreambuf_iterator<char>(set)), std::istreambuf_iterator<char>());
  EXPECT_EQ(text, "PMEMPOOLSET\nOPTION SINGLEHDR\n" + std::to_string(32 * kMiB) + " " +
                      dir_.Sub("moved/parts") + "\n");
}

TEST_P(PoolTest, ACopyIsAPoolOfItsOwn) {
  MakeFilled();
  TestDir::Run("cp -r " + dir_.Sub("db") + " " + dir_.Sub("copy"));
  PoolOptions copy = Options();
  copy.set_dir = dir_.Sub("copy");
  {
    const auto pool = MustOpen(copy);
    WriteWord(*pool, pool->header().client_offset, 1);
    // libpmemobj tells pools apart by an identity that a copy shares.
    const Status both = OpenError(Options());
    EXPECT_TRUE(both.IsIOError() && Contains(both, "lock")) << both.ToString();
  }
  CheckFilled(*MustOpen(Options()), 3);
}

TEST_P(PoolTest, ASymbolicLinkLeadsToTheSamePool) {
  MakeFilled();
  TestDir::Run("ln -s " + dir_.Sub("db") + " " + dir_.Sub("link"));
  PoolOptions link = Options();
  link.set_dir = dir_.Sub("link");
  const auto pool = MustOpen(link);
  CheckFilled(*pool, 3);
  EXPECT_TRUE(Contains(OpenError(Options()), "lock"));
}

TEST_P(PoolTest, ASecondOpenIsRefusedWithLockInThisAndInAnotherProcess) {
  for (const PoolOptions& options : {Options(), FileOptions()}) {
    SCOPED_TRACE(options.pool_file);
    const auto pool = MustOpen(options);
    Span group;
    ASSERT_TRUE(pool->Grow(1, &group).ok());  // growing must not drop the lock
    const Status second = OpenError(options);
    EXPECT_TRUE(second.IsIOError() && Contains(second, "lock")) << second.ToString();
    EXPECT_TRUE(Pool::Destroy(options).IsIOError());
    EXPECT_EQ(InChild([&] {
                std::unique_ptr<Pool> mine;
                const Status status = Pool::Open(options, &mine);
                return status.IsIOError() && Contains(status, "lock") ? 0 : 1;
              }),
              0);
  }
}

TEST_P(PoolTest, DestroyRemovesThePoolAndOnlyThePool) {
  MakeFilled();
  TestDir::Run("touch " + dir_.Sub("db/LOG"));
  ASSERT_TRUE(Pool::Destroy(Options()).ok());
  EXPECT_FALSE(Exists(Options()));
  TestDir::Run("rm " + dir_.Sub("db/LOG") + " && rmdir " + dir_.Sub("db"));
  EXPECT_TRUE(Pool::Destroy(Options()).ok());
  EXPECT_TRUE(Pool::Destroy(FileOptions()).ok());
}

// --- Damaged files ---

TEST_P(PoolTest, ATruncatedPartIsAnError) {
  MakeFilled(6);
  ASSERT_EQ(access(Part(2).c_str(), F_OK), 0) << "at least three parts";
  for (const int part : {0, 1, 2}) {
    for (const char* size : {"-1", "-4096", "3000000", "5000"}) {
      if (part > 0 && size[0] == '3') continue;  // not shorter than the part was
      SCOPED_TRACE(testing::Message() << "part " << part << " " << size);
      TestDir::Run("cp -r " + dir_.Sub("db") + " " + dir_.Sub("copy"));
      char name[64];
      snprintf(name, sizeof(name), "copy/parts/%06d.pmem", part);
      TestDir::Run(std::string("truncate -s ") + size + " " + dir_.Sub(name));
      PoolOptions copy = Options();
      copy.set_dir = dir_.Sub("copy");
      const Status status = OpenError(copy);
      EXPECT_TRUE(status.IsIOError() && Contains(status, "truncated")) << status.ToString();
      TestDir::Run("rm -r " + dir_.Sub("copy"));
    }
  }
  TestDir::Run("truncate -s 0 " + Part(0));
  EXPECT_TRUE(Contains(OpenError(Options()), "truncated"));
}

TEST_P(PoolTest, AMissingPartIsAnErrorAndNeverANewPool) {
  MakeFilled(6);
  TestDir::Run("mv " + Part(1) + " " + dir_.Sub("kept"));
  Status status = OpenError(Options());
  EXPECT_TRUE(status.IsIOError() && Contains(status, "000001.pmem: part is missing")) << status.ToString();
  TestDir::Run("mv " + dir_.Sub("kept") + " " + Part(1));
  TestDir::Run("mv " + Part(0) + " " + dir_.Sub("kept"));
  status = OpenError(Options());
  EXPECT_TRUE(Contains(status, "000000.pmem: part is missing")) << status.ToString();
  TestDir::Run("mv " + dir_.Sub("kept") + " " + Part(0));
  CheckFilled(*MustOpen(Options()), 6);

  TestDir::Run("rm -r " + dir_.Sub("db/parts"));
  EXPECT_TRUE(Exists(Options()));
  std::unique_ptr<Pool> pool;
  status = Pool::Open(Options(), &pool);
  EXPECT_TRUE(status.IsIOError() && Contains(status, "missing")) << status.ToString();
}

TEST_P(PoolTest, ALostLastPartIsAnError) {
  MakeFilled(6);
  TestDir::Run("rm $(ls " + dir_.Sub("db/parts") + "/* | tail -1)");
  EXPECT_TRUE(Contains(OpenError(Options()), "missing"));
}

TEST_P(PoolTest, WhatAKilledGrowthLeavesIsRemoved) {
  MakeFilled();
  const std::string part = Part(900);
  for (const std::string& command : {
           "touch " + part,
           "touch " + part + " && chmod 0 " + part,
           "truncate -s 2M " + part,
           "truncate -s 2M " + part + " && chmod 0 " + part,
           "truncate -s 12288 " + part,
           "touch " + Part(901) + " && truncate -s 2M " + part,
       }) {
    SCOPED_TRACE(command);
    TestDir::Run(command);
    const auto pool = MustOpen(Options());
    CheckFilled(*pool, 3);
    EXPECT_NE(access(part.c_str(), F_OK), 0);
    EXPECT_NE(access(Part(901).c_str(), F_OK), 0);
  }
}

TEST_P(PoolTest, APartThatHoldsDataIsNeverRemoved) {
  MakeFilled();
  TestDir::Run("truncate -s 2M " + Part(900) +
               " && printf x | dd bs=1 seek=5000 conv=notrunc status=none of=" + Part(900));
  EXPECT_TRUE(OpenError(Options()).IsCorruption());
  EXPECT_EQ(access(Part(900).c_str(), F_OK), 0);
}

TEST_P(PoolTest, AHoleInTheNumbersOfWholePartsIsClosed) {
  MakeFilled(6);
  TestDir::Run("cd " + dir_.Sub("db/parts") + " && mv 000002.pmem 000012.pmem && for i in 3 4 5; do " +
               "if [ -e 00000$i.pmem ]; then mv 00000$i.pmem 00001$i.pmem; fi; done");
  CheckFilled(*MustOpen(Options()), 6);
  EXPECT_EQ(access(Part(2).c_str(), F_OK), 0);
}

TEST_P(PoolTest, AnotherLayoutIsRefusedByName) {
  TestDir::Run("mkdir -p " + dir_.Sub("db/parts"));
  std::ofstream(dir_.Sub("db/pool.set"))
      << "PMEMPOOLSET\nOPTION SINGLEHDR\n16777216 " << dir_.Sub("db/parts") << "\n";
  PMEMobjpool* foreign = pmemobj_create(dir_.Sub("db/pool.set").c_str(), "pmemkv", 0, 0600);
  ASSERT_NE(foreign, nullptr) << pmemobj_errormsg();
  pmemobj_close(foreign);
  foreign = pmemobj_create(dir_.Sub("pool").c_str(), "pmemkv", 8 * kMiB, 0600);
  ASSERT_NE(foreign, nullptr) << pmemobj_errormsg();
  pmemobj_close(foreign);
  for (const PoolOptions& options : {Options(), FileOptions()}) {
    EXPECT_TRUE(Exists(options)) << "not to be created over";
    const Status status = OpenError(options);
    EXPECT_TRUE(status.IsInvalidArgument() && Contains(status, "pmemkv")) << status.ToString();
  }
}

// Changes the header through libpmemobj, as a pmlsm of another version would have.
void EditHeader(const std::string& pool_set, const std::function<void(RootObject*)>& edit) {
  PMEMobjpool* handle = pmemobj_open(pool_set.c_str(), kPoolLayout);
  CHECK(handle != nullptr);
  RootObject* root =
      static_cast<RootObject*>(pmemobj_direct(pmemobj_root(handle, pmemobj_root_size(handle))));
  edit(root);
  pmemobj_persist(handle, root, sizeof(*root));
  pmemobj_close(handle);
}

TEST_P(PoolTest, ANewerFormatIsRefusedWithBothNumbers) {
  MakeFilled();
  EditHeader(dir_.Sub("db/pool.set"), [](RootObject* root) {
    root->header.format_version = kFormatVersion + 7;
    root->header.checksum = 0;
    root->header.checksum = Checksum32(&root->header, sizeof(root->header));
  });
  const Status status = OpenError(Options());
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_TRUE(Contains(status, "format " + std::to_string(kFormatVersion + 7)));
  EXPECT_TRUE(Contains(status, "format " + std::to_string(kFormatVersion)));
}

TEST_P(PoolTest, FlippedBitsInTheRootAreCorruption) {
  const std::function<void(RootObject*)> edits[] = {
      [](RootObject* root) { root->header.format_version ^= 1 << 5; },
      [](RootObject* root) { root->header.extent_bytes ^= 1 << 20; },
      [](RootObject* root) { root->header.magic ^= 1; },
      [](RootObject* root) { root->header.identity[3] ^= 0x10; },
      [](RootObject* root) { root->header.reserved[100] ^= 1; },
      [](RootObject* root) { root->created ^= 1; },
      [](RootObject* root) { root->groups[1].object_offset ^= 1 << 12; },
      [](RootObject* root) { root->groups[1].object_offset = 0; },
      [](RootObject* root) { root->groups[9].object_offset = 1 << 30; },
  };
  MakeFilled();
  for (const auto& edit : edits) {
    TestDir::Run("cp -r " + dir_.Sub("db") + " " + dir_.Sub("copy"));
    PoolOptions copy = Options();
    copy.set_dir = dir_.Sub("copy");
    MustOpen(copy).reset();  // makes the copy's pool.set its own
    EditHeader(dir_.Sub("copy/pool.set"), edit);
    const Status status = OpenError(copy);
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    TestDir::Run("rm -r " + dir_.Sub("copy"));
  }
  TestDir::Run("printf XXXX | dd bs=1 conv=notrunc status=none of=" + Part(0));
  EXPECT_TRUE(OpenError(Options()).IsCorruption());
}

// --- A single file ---

TEST_P(PoolTest, ASingleFileIsCreatedAndReopenedAtAFixedSize) {
  EXPECT_FALSE(Exists(FileOptions()));
  {
    const auto pool = MustOpen(FileOptions());
    EXPECT_FALSE(pool->can_grow());
    EXPECT_EQ(pool->header().max_pmem_bytes, 32 * kMiB);
    Fill(*pool, pool.get(), 3);
  }
  EXPECT_TRUE(Exists(FileOptions()));
  const auto pool = MustOpen(FileOptions());
  CheckFilled(*pool, 3);
  Span group;
  while (pool->Grow(1, &group).ok()) {
  }
  EXPECT_EQ(pool->pool_bytes(), 32 * kMiB);
}

TEST_P(PoolTest, APreparedFileGetsItsHeaderOnCreateOnly) {
  PMEMobjpool* prepared = pmemobj_create(dir_.Sub("pool").c_str(), kPoolLayout, 24 * kMiB, 0600);
  ASSERT_NE(prepared, nullptr);
  pmemobj_close(prepared);
  EXPECT_FALSE(Exists(FileOptions()));
  EXPECT_TRUE(OpenError(FileOptions()).IsInvalidArgument());
  {
    const auto pool = MustOpen(FileOptions());
    EXPECT_EQ(pool->header().max_pmem_bytes, 24 * kMiB);
    Fill(*pool, pool.get(), 2);
  }
  CheckFilled(*MustOpen(FileOptions()), 2);
}

TEST_P(PoolTest, ASingleFileThatIsShortOrForeignIsRefused) {
  MustOpen(FileOptions()).reset();
  TestDir::Run("truncate -s -4096 " + dir_.Sub("pool"));
  Status status = OpenError(FileOptions());
  EXPECT_TRUE(status.IsIOError() && Contains(status, "truncated")) << status.ToString();
  TestDir::Run("truncate -s 0 " + dir_.Sub("pool"));
  status = OpenError(FileOptions());
  EXPECT_TRUE(status.IsIOError() && Contains(status, "truncated")) << status.ToString();
  TestDir::Run("yes text | head -c 100000 > " + dir_.Sub("pool"));
  EXPECT_TRUE(OpenError(FileOptions()).IsInvalidArgument());
  std::unique_ptr<Pool> pool;
  EXPECT_TRUE(Pool::Open(FileOptions(), &pool).IsInvalidArgument()) << "a user's file is not created over";
}

// --- Kills ---

TEST_P(PoolTest, AKilledCreationIsNoPoolAndCanBeRepeated) {
  for (const PoolOptions& options : {Options(), FileOptions()}) {
    int unfinished = 0;
    for (unsigned delay = 100; delay < 60000; delay += delay / 2) {
      KillAfter(delay, [&](const auto& ready) {
        ready();
        std::unique_ptr<Pool> pool;
        Pool::Open(options, &pool).PermitUncheckedError();
      });
      unfinished += !Exists(options);
      {
        const auto pool = MustOpen(options);
        ASSERT_NE(pool, nullptr);
        Span group;
        EXPECT_TRUE(pool->Grow(1, &group).ok());
      }
      EXPECT_NE(access(dir_.Sub("db/parts.new").c_str(), F_OK), 0);
      EXPECT_NE(access(dir_.Sub("pool.new").c_str(), F_OK), 0);
      EXPECT_TRUE(Pool::Destroy(options).ok());
    }
    EXPECT_GT(unfinished, 0);
  }
}

TEST_P(PoolTest, TheRemainsOfAKilledCreationOrRemovalAreCleanedUp) {
  for (const char* remains : {
           "mkdir db/parts.new",
           "mkdir db/parts.new && touch db/pool.set.new db/pool.set.tmp",
           "mkdir db/parts.new && touch db/parts.new/000000.pmem && chmod 0 db/parts.new/000000.pmem",
           "mkdir db/parts.new && touch db/pool.set db/pool.set.new",
       }) {
    SCOPED_TRACE(remains);
    TestDir::Run("cd " + dir_.path() + " && mkdir db && " + remains);
    EXPECT_FALSE(Exists(Options()));
    EXPECT_TRUE(OpenError(Options()).IsInvalidArgument());
    MustOpen(Options()).reset();
    EXPECT_TRUE(Pool::Destroy(Options()).ok());
    TestDir::Run("rmdir " + dir_.Sub("db"));
  }
}

TEST_P(PoolTest, AKillDuringGrowthLeavesWholeGroups) {
  size_t groups_before = 0;
  MustOpen(Options(256 * kMiB)).reset();
  for (unsigned delay = 1000; delay < 40000; delay += 2000) {
    KillAfter(delay, [&](const auto& ready) {
      std::unique_ptr<Pool> pool;
      if (!Pool::Open(Options(), &pool).ok()) return;
      ready();
      Span group;
      while (pool->Grow(1, &group).ok()) {
      }
    });
    const auto pool = MustOpen(Options());
    ASSERT_NE(pool, nullptr);
    const std::vector<Span> groups = pool->Groups();
    EXPECT_GE(groups.size(), groups_before);
    groups_before = groups.size();
    for (const Span& group : groups) {
      EXPECT_GT(group.bytes, 0u);
      WriteWord(*pool, group.offset, 1);
      WriteWord(*pool, group.end() - 8, 1);  // its pages are there
    }
  }
  EXPECT_GT(groups_before, 0u);
}

// --- Full file systems ---

TEST_P(PoolTest, GrowthPastAFileSizeLimitIsNoSpaceAndWorksOnceItIsLifted) {
  EXPECT_EQ(InChild([&] {
              signal(SIGXFSZ, SIG_IGN);
              auto pool = MustOpen(Options(1024 * kMiB));  // a step of 128 MiB
              rlimit limit = {64 * kMiB, RLIM_INFINITY};
              if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
              Span group;
              for (int i = 0; i < 3; ++i) {
                if (!pool->Grow(32 * kMiB, &group).IsNoSpace()) return 3;
              }
              limit.rlim_cur = RLIM_INFINITY;
              if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 4;
              Fill(*pool, pool.get(), 3);
              pool.reset();
              pool = MustOpen(Options());  // libpmemobj skipped numbers of parts
              if (pool == nullptr) return 5;
              CheckFilled(*pool, 3);
              Fill(*pool, pool.get(), 1);
              pool.reset();
              pool = MustOpen(Options());
              if (pool == nullptr) return 6;
              CheckFilled(*pool, 4);
              return testing::Test::HasFailure() ? 7 : 0;
            }),
            0);
}

TEST_P(PoolTest, AFullFileSystemIsNoSpaceAndWorksOnceThereIsRoom) {
  const std::string mounted = dir_.Sub("db");
  TestDir::Run("mkdir " + mounted);
  if (mount("pmlsm-test", mounted.c_str(), "tmpfs", 0, "size=24m") != 0) {
    GTEST_SKIP() << "no right to mount; GrowthPastAFileSizeLimit stands in";
  }
  {
    TestDir::Run("fallocate -l 10M " + mounted + "/ballast");
    auto pool = MustOpen(Options(64 * kMiB));
    ASSERT_NE(pool, nullptr);
    Span group;
    Status status;
    int groups = 0;
    while ((status = pool->Grow(1, &group)).ok()) ++groups;
    EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
    TestDir::Run("rm " + mounted + "/ballast");
    EXPECT_TRUE(pool->Grow(1, &group).ok());
    pool.reset();
    pool = MustOpen(Options());
    ASSERT_NE(pool, nullptr);
    EXPECT_EQ(pool->Groups().size(), static_cast<size_t>(groups) + 1);
  }
  umount(mounted.c_str());
  ASSERT_EQ(mount("pmlsm-test", mounted.c_str(), "tmpfs", 0, "size=4m"), 0);
  std::unique_ptr<Pool> pool;
  const Status status = Pool::Open(Options(), &pool);
  EXPECT_TRUE(status.IsNoSpace()) << status.ToString();
  EXPECT_FALSE(Exists(Options()));
  umount(mounted.c_str());
}

INSTANTIATE_TEST_SUITE_P(Places, PoolTest, testing::Values(TestDir::kTmpfs, TestDir::kDisk),
                         [](const auto& info) { return info.param == TestDir::kDisk ? "Disk" : "Tmpfs"; });

// --- Format ---

TEST(PoolFormatTest, BytesOfHeaderAndDirectoryAreFixed) {
  EXPECT_EQ(offsetof(PoolHeader, magic), 0u);
  EXPECT_EQ(offsetof(PoolHeader, format_version), 8u);
  EXPECT_EQ(offsetof(PoolHeader, checksum), 12u);
  EXPECT_EQ(offsetof(PoolHeader, extent_bytes), 16u);
  EXPECT_EQ(offsetof(PoolHeader, group_bytes), 24u);
  EXPECT_EQ(offsetof(PoolHeader, max_pmem_bytes), 32u);
  EXPECT_EQ(offsetof(PoolHeader, client_offset), 40u);
  EXPECT_EQ(offsetof(PoolHeader, client_bytes), 48u);
  EXPECT_EQ(offsetof(PoolHeader, identity), 56u);
  EXPECT_EQ(offsetof(PoolHeader, reserved), 72u);
  EXPECT_EQ(offsetof(RootObject, created), 256u);
  EXPECT_EQ(offsetof(RootObject, groups), 512u);
  EXPECT_EQ(sizeof(RootObject), 512u + 4096 * 16);
  PoolHeader header;
  memset(&header, 0, sizeof(header));
  header.magic = kPoolMagic;
  header.format_version = 1;
  header.extent_bytes = 0x4000;
  const char golden[] = "pmlsm\0\0\0\1\0\0\0\0\0\0\0\0\x40\0\0\0\0\0\0";
  EXPECT_EQ(memcmp(&header, golden, sizeof(golden) - 1), 0);
}

}  // namespace
}  // namespace pmlsm
