// Opening, closing, moving and destroying a DB; what is refused, and that a refusal changes nothing.
//
// argv[1] is open_probe, which opens a DB in another process.
#include <libpmemobj.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "pmem/pool_format.h"
#include "test/db/db_test_support.h"
#include "util/hash.h"

namespace pmlsm {
namespace {

namespace fs = std::filesystem;

std::string probe;  // the program

class OpenTest : public ::testing::Test {
 protected:
  std::string path() const { return dir_ / "db"; }
  Status Open(const Options& options, const std::string& path) { return DB::Open(options, path, &db_); }
  Status Open() { return Open(TinyOptions(), path()); }
  void Put(const std::string& key, const std::string& value) {
    ASSERT_OK(db_->Put({}, key, value));
    model_[key] = value;
  }
  void Fill(int from, int to, size_t value_bytes = 100) {
    for (int i = from; i < to; ++i) {
      Put("key" + std::to_string(i), std::to_string(i) + std::string(value_bytes, 'v'));
    }
  }
  void ExpectModel() { ExpectHolds(db_.get(), model_, {"", "nothing"}); }
  // A DB with a few keys, closed.
  void MakeDB() {
    ASSERT_OK(Open());
    Fill(0, 50);
    ASSERT_OK(db_->Close());
    db_.reset();
  }

  TestDir dir_;
  std::unique_ptr<DB> db_;
  Model model_;
};

// What open_probe says of `path`: "OK", or the status.
std::string OpenElsewhere(const std::string& path) {
  FILE* const pipe = popen((probe + " '" + path + "' once").c_str(), "r");
  char line[1024] = "";
  CHECK(pipe != nullptr);
  const bool any = fgets(line, sizeof(line), pipe) != nullptr;
  pclose(pipe);
  return any ? std::string(line) : "no answer";
}

// ---- What is refused ----

TEST_F(OpenTest, AMissingDBIsNotCreatedUnlessAsked) {
  Options options = TinyOptions();
  options.create_if_missing = false;
  EXPECT_TRUE(Open(options, path()).IsInvalidArgument());
  EXPECT_EQ(db_, nullptr);
  EXPECT_FALSE(fs::exists(path()));
  fs::create_directory(path());
  EXPECT_TRUE(Open(options, path()).IsInvalidArgument());
  EXPECT_TRUE(fs::is_empty(path()));
}

TEST_F(OpenTest, AnExistingDBIsRefusedIfAsked) {
  MakeDB();
  Options options = TinyOptions();
  options.error_if_exists = true;
  EXPECT_TRUE(Open(options, path()).IsInvalidArgument());
  ASSERT_OK(Open());
  ExpectModel();
}

TEST_F(OpenTest, ADirectoryThatCannotBeMadeIsAnError) {
  WriteFile(dir_ / "file", "text");
  Status s = Open(TinyOptions(), dir_ / "file/db");
  EXPECT_TRUE(s.IsIOError() || s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("file/db"), std::string::npos) << s.ToString();
  s = Open(TinyOptions(), "/proc/pmlsm_test");
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  s = Open(TinyOptions(), "");
  EXPECT_FALSE(s.ok());
}

TEST_F(OpenTest, APathThatIsARegularFileIsRefusedAndKept) {
  WriteFile(dir_ / "file", "text");
  const Status s = Open(TinyOptions(), dir_ / "file");
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_EQ(ReadFile(dir_ / "file"), "text");
}

TEST_F(OpenTest, AForeignPoolSetIsRefusedAndKept) {
  fs::create_directory(path());
  const std::string foreign = "PMEMPOOLSET\n100M /somewhere/else\n";
  WriteFile(path() + "/pool.set", foreign);
  const Status s = Open();
  EXPECT_FALSE(s.ok());
  EXPECT_EQ(ReadFile(path() + "/pool.set"), foreign);
}

TEST_F(OpenTest, DestroyKeepsAForeignPoolSet) {
  fs::create_directory(path());
  const std::string foreign = "PMEMPOOLSET\n100M /somewhere/else\n";
  WriteFile(path() + "/pool.set", foreign);
  DestroyDB(path(), TinyOptions()).PermitUncheckedError();
  EXPECT_EQ(ReadFile(path() + "/pool.set"), foreign);
}

TEST_F(OpenTest, DestroyKeepsTheFilesOfAnotherKindOfDB) {
  fs::create_directory(path());
  for (const std::string name : {"CURRENT", "LOG", "IDENTITY", "OPTIONS-000001"})
    WriteFile(path() + "/" + name, name);
  DestroyDB(path(), TinyOptions()).PermitUncheckedError();
  for (const std::string name : {"CURRENT", "LOG", "IDENTITY", "OPTIONS-000001"}) {
    EXPECT_EQ(ReadFile(path() + "/" + name), name);
  }
}

TEST_F(OpenTest, APoolOfAnotherLayoutIsRefusedAndKept) {
  const std::string file = dir_ / "pool";
  PMEMobjpool* const pool = pmemobj_create(file.c_str(), "another", 32 << 20, 0600);
  ASSERT_NE(pool, nullptr);
  pmemobj_close(pool);
  const std::string before = ReadFile(file);
  Options options = TinyOptions();
  options.pool_file = file;
  const Status s = Open(options, path());
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("another"), std::string::npos) << s.ToString();
  EXPECT_EQ(ReadFile(file), before);
}

TEST_F(OpenTest, APoolOfANewerFormatIsRefused) {
  MakeDB();
  // The pool header: "pmlsm" and three zeros, then the format version.
  const std::string part = path() + "/parts/000000.pmem";
  std::string bytes = ReadFile(part);
  const std::string magic("pmlsm\0\0\0", 8);
  size_t at = bytes.find(magic + std::string("\1\0\0\0", 4));
  ASSERT_NE(at, std::string::npos);
  const std::string whole = bytes;
  bytes[at + 8] = 2;
  WriteFile(part, bytes);
  EXPECT_TRUE(Open().IsCorruption()) << "a damaged version";

  PoolHeader newer;
  memcpy(&newer, bytes.data() + at, sizeof(newer));
  newer.checksum = 0;
  newer.checksum = Checksum32(&newer, sizeof(newer));
  bytes.replace(at, sizeof(newer), reinterpret_cast<const char*>(&newer), sizeof(newer));
  WriteFile(part, bytes);
  const Status s = Open();
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("format 2"), std::string::npos) << s.ToString();
  WriteFile(part, whole);
  ASSERT_OK(Open());
  ExpectModel();
}

TEST_F(OpenTest, ATruncatedPartIsRefused) {
  MakeDB();
  const std::string part = path() + "/parts/000000.pmem";
  const auto bytes = fs::file_size(part);
  for (const uint64_t cut : {uint64_t{0}, uint64_t{5000}, bytes / 2, bytes - 4096}) {
    const std::string copy = dir_ / "cut";
    CopyTree(path(), copy);
    fs::resize_file(copy + "/parts/000000.pmem", cut);
    const Status s = Open(TinyOptions(), copy);
    EXPECT_FALSE(s.ok()) << cut;
    EXPECT_FALSE(s.IsInvalidArgument() || s.IsNotFound()) << cut << ": " << s.ToString();
    fs::remove_all(copy);
  }
  ASSERT_OK(Open());
  ExpectModel();
}

TEST_F(OpenTest, AMissingPartOrPoolSetIsRefusedAndNothingIsMadeInItsPlace) {
  MakeDB();
  for (const std::string lost : {"parts/000000.pmem", "pool.set"}) {
    const std::string copy = dir_ / "lost";
    CopyTree(path(), copy);
    fs::remove(copy + "/" + lost);
    EXPECT_FALSE(Open(TinyOptions(), copy).ok()) << lost;
    EXPECT_FALSE(fs::exists(copy + "/" + lost)) << lost;
    fs::remove_all(copy);
  }
}

TEST_F(OpenTest, BadOptionsAreRefusedByNameAndRange) {
  const struct {
    const char* name;
    void (*spoil)(Options*);
  } kCases[] = {
      {"comparator", [](Options* o) { o->comparator = nullptr; }},
      {"max_pmem_bytes", [](Options* o) { o->max_pmem_bytes = 1 << 20; }},
      {"max_pmem_bytes", [](Options* o) { o->max_pmem_bytes = uint64_t{65} << 40; }},
      {"extent_bytes", [](Options* o) { o->extent_bytes = 5000; }},
      {"extent_bytes", [](Options* o) { o->extent_bytes = 2048; }},
      {"write_buffer_size", [](Options* o) { o->write_buffer_size = 0; }},
      {"max_write_buffer_number", [](Options* o) { o->max_write_buffer_number = 1; }},
      {"max_write_buffer_number", [](Options* o) { o->max_write_buffer_number = -1; }},
      {"size_ratio", [](Options* o) { o->size_ratio = 1; }},
      {"size_ratio", [](Options* o) { o->size_ratio = 33; }},
      {"num_levels", [](Options* o) { o->num_levels = 0; }},
      {"num_levels", [](Options* o) { o->num_levels = 17; }},
      {"max_size_amplification_percent", [](Options* o) { o->max_size_amplification_percent = 9; }},
      {"target_table_bytes", [](Options* o) { o->target_table_bytes = 1; }},
      {"node_bytes", [](Options* o) { o->node_bytes = 100; }},
      {"filter_bits_per_key", [](Options* o) { o->filter_bits_per_key = 33; }},
      {"max_background_jobs", [](Options* o) { o->max_background_jobs = 0; }},
      {"dram_budget_bytes", [](Options* o) { o->dram_budget_bytes = 1 << 19; }},
      {"dram_budget_bytes", [](Options* o) { o->dram_budget_bytes = uint64_t{65} << 40; }},
      {"memtable", [](Options* o) { o->memtable = static_cast<MemTableType>(9); }},
      {"failure_atomicity", [](Options* o) { o->failure_atomicity = static_cast<FailureAtomicity>(3); }},
  };
  for (const auto& c : kCases) {
    Options options = TinyOptions();
    c.spoil(&options);
    const Status s = Open(options, path());
    EXPECT_TRUE(s.IsInvalidArgument()) << c.name << ": " << s.ToString();
    EXPECT_NE(s.ToString().find(c.name), std::string::npos) << s.ToString();
    EXPECT_NE(s.ToString().find("must be"), std::string::npos) << s.ToString();
    EXPECT_FALSE(fs::exists(path()));
  }
}

// ---- CM-1: another comparator ----

class OtherComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.Other"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
};

TEST_F(OpenTest, CM1_AnotherComparatorIsRefusedNamingBothAndChangesNothing) {
  MakeDB();
  const OtherComparator other;
  for (const Comparator* comparator : {ReverseBytewiseComparator(), static_cast<const Comparator*>(&other)}) {
    Options options = TinyOptions();
    options.comparator = comparator;
    const Status s = Open(options, path());
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(s.ToString().find(comparator->Name()), std::string::npos) << s.ToString();
    EXPECT_NE(s.ToString().find(BytewiseComparator()->Name()), std::string::npos) << s.ToString();
  }
  ASSERT_OK(Open());
  ExpectModel();
}

// ---- OP-1: opening twice ----

TEST_F(OpenTest, OP1_ASecondOpenIsRefusedAndTheFirstGoesOn) {
  ASSERT_OK(Open());
  Fill(0, 50);
  fs::create_directory_symlink(path(), dir_ / "link");
  const std::string relative = fs::relative(path()).string();
  for (int round = 0; round < 3; ++round) {
    for (const std::string& name : {path(), dir_ / "link", relative, path() + "/../db/"}) {
      std::unique_ptr<DB> second;
      const Status s = DB::Open(TinyOptions(), name, &second);
      EXPECT_TRUE(s.IsIOError()) << name << ": " << s.ToString();
      EXPECT_NE(s.ToString().find("lock"), std::string::npos) << s.ToString();
      EXPECT_EQ(second, nullptr);
      EXPECT_NE(OpenElsewhere(name).find("lock"), std::string::npos) << name << ": " << OpenElsewhere(name);
    }
    EXPECT_TRUE(DestroyDB(path(), TinyOptions()).IsIOError());
    EXPECT_TRUE(DestroyDB(dir_ / "link", TinyOptions()).IsIOError());
    Fill(50 * round, 50 * round + 100);
    ExpectModel();
  }
  ASSERT_OK(db_->Flush());
  ASSERT_OK(db_->Close());
  EXPECT_EQ(OpenElsewhere(path()), "OK\n");
  ASSERT_OK(Open());
  ExpectModel();
}

TEST_F(OpenTest, OP1_AfterTheOwnerIsKilledOpenWorksAtOnce) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl(probe.c_str(), probe.c_str(), path().c_str(), "hold", static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  char answer[3] = "";
  ASSERT_EQ(read(ends[0], answer, 2), 2);
  EXPECT_STREQ(answer, "OK");
  EXPECT_TRUE(Open().IsIOError());
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  close(ends[0]);
  ASSERT_OK(Open());
  EXPECT_TRUE(GetIs(db_.get(), {}, "held", "yes"));
}

// ---- OP-2: closing under live objects ----

TEST_F(OpenTest, OP2_CloseUnderLiveObjectsIsAbortedAndTheDBGoesOn) {
  ASSERT_OK(Open());
  Fill(0, 500);
  ASSERT_OK(db_->Flush());
  Fill(500, 600);

  std::unique_ptr<Iterator> it(db_->NewIterator({}));
  it->SeekToFirst();
  EXPECT_TRUE(db_->Close().IsAborted());
  Fill(600, 700);
  it->Next();
  EXPECT_TRUE(it->Valid());
  it.reset();

  PinnableSlice in_table;
  PinnableSlice in_memtable;
  ASSERT_OK(db_->Get({}, "key1", &in_table));
  ASSERT_OK(db_->Get({}, "key650", &in_memtable));
  EXPECT_TRUE(db_->Close().IsAborted());
  PinnableSlice moved(std::move(in_table));
  EXPECT_TRUE(db_->Close().IsAborted());
  EXPECT_EQ(moved.ToString(), model_["key1"]);
  moved.Reset();
  EXPECT_TRUE(db_->Close().IsAborted());
  in_memtable.Reset();

  const Snapshot* const snapshot = db_->GetSnapshot();
  EXPECT_TRUE(db_->Close().IsAborted());
  db_->ReleaseSnapshot(snapshot);
  ExpectModel();
  ASSERT_OK(db_->Close());
  ASSERT_OK(db_->Close());
  ASSERT_OK(Open());
  ExpectModel();
}

TEST_F(OpenTest, OP2_AfterCloseEveryCallAnswersAborted) {
  ASSERT_OK(Open());
  Fill(0, 10);
  ASSERT_OK(db_->Close());
  std::string value;
  PinnableSlice pinned;
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "b"));
  EXPECT_TRUE(db_->Put({}, "a", "b").IsAborted());
  EXPECT_TRUE(db_->Delete({}, "a").IsAborted());
  EXPECT_TRUE(db_->Write({}, &batch).IsAborted());
  EXPECT_TRUE(db_->Get({}, "key1", &value).IsAborted());
  EXPECT_TRUE(db_->Get({}, "key1", &pinned).IsAborted());
  EXPECT_TRUE(db_->Flush().IsAborted());
  EXPECT_TRUE(db_->CompactRange({}, nullptr, nullptr).IsAborted());
  EXPECT_TRUE(db_->WaitForCompact().IsAborted());
  EXPECT_EQ(db_->GetSnapshot(), nullptr);
  db_->ReleaseSnapshot(nullptr);
  EXPECT_FALSE(db_->GetProperty("pmlsm.stats", &value));
  const std::unique_ptr<Iterator> it(db_->NewIterator({}));
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsAborted());
  ASSERT_OK(db_->Close());
}

TEST_F(OpenTest, OP2_WhatOutlivesTheDBStaysReadableAndFreesItAtTheEnd) {
  ASSERT_OK(Open());
  Fill(0, 1000);
  ASSERT_OK(db_->Flush());
  Fill(1000, 1050);
  const Snapshot* const snapshot = db_->GetSnapshot();  // dies with the DB
  ASSERT_NE(snapshot, nullptr);
  auto it = std::unique_ptr<Iterator>(db_->NewIterator({}));
  it->SeekToFirst();
  PinnableSlice in_table;
  PinnableSlice in_memtable;
  ASSERT_OK(db_->Get({}, "key1", &in_table));
  ASSERT_OK(db_->Get({}, "key1049", &in_memtable));
  db_.reset();
  // Somebody still reads: the DB is not free yet.
  EXPECT_TRUE(Open().IsIOError());
  auto want = model_.begin();
  for (; it->Valid() && want != model_.end(); it->Next(), ++want) {
    ASSERT_EQ(it->key().ToString(), want->first);
    ASSERT_EQ(it->value().ToString(), want->second);
  }
  ASSERT_EQ(want, model_.end());
  it.reset();
  EXPECT_EQ(in_memtable.ToString(), model_["key1049"]);
  in_memtable.Reset();
  EXPECT_TRUE(Open().IsIOError());
  EXPECT_EQ(in_table.ToString(), model_["key1"]);
  in_table.Reset();
  ASSERT_OK(Open());
  ExpectModel();
}

// ---- Moving, copying, destroying ----

TEST_F(OpenTest, AMovedDBOpensAndACopyIsADBOfItsOwn) {
  MakeDB();
  fs::rename(path(), dir_ / "moved");
  ASSERT_OK(Open(TinyOptions(), dir_ / "moved"));
  ExpectModel();
  ASSERT_OK(db_->Close());
  CopyTree(dir_ / "moved", path());
  ASSERT_OK(Open());
  Put("only here", "1");
  ExpectModel();
  // Both at once; in one process libpmemobj refuses a second pool of the same identity.
  EXPECT_EQ(OpenElsewhere(dir_ / "moved"), "OK\n");
  ExpectModel();
  ASSERT_OK(db_->Close());
  ASSERT_OK(Open(TinyOptions(), dir_ / "moved"));
  model_.erase("only here");
  ExpectModel();
}

TEST_F(OpenTest, ADBOpensThroughASymbolicLinkAndARelativePath) {
  MakeDB();
  fs::create_directory_symlink(path(), dir_ / "link");
  ASSERT_OK(Open(TinyOptions(), dir_ / "link"));
  Fill(50, 80);
  ASSERT_OK(db_->Close());
  ASSERT_OK(Open(TinyOptions(), fs::relative(path()).string()));
  ExpectModel();
  ASSERT_OK(db_->Close());
  fs::rename(path(), dir_ / "elsewhere");
  fs::remove(dir_ / "link");
  fs::create_directory_symlink(dir_ / "elsewhere", dir_ / "link");
  ASSERT_OK(Open(TinyOptions(), dir_ / "link"));
  ExpectModel();
}

TEST_F(OpenTest, DestroyRemovesTheDBAndNothingElse) {
  ASSERT_OK(DestroyDB(path(), TinyOptions()));  // there is none
  MakeDB();
  WriteFile(path() + "/mine", "text");
  ASSERT_OK(DestroyDB(path(), TinyOptions()));
  EXPECT_EQ(ReadFile(path() + "/mine"), "text");
  EXPECT_EQ(std::distance(fs::directory_iterator(path()), fs::directory_iterator()), 1);
  fs::remove(path() + "/mine");
  model_.clear();
  ASSERT_OK(Open());
  ExpectModel();
  ASSERT_OK(db_->Close());
  ASSERT_OK(DestroyDB(path(), TinyOptions()));
  EXPECT_FALSE(fs::exists(path()));
}

TEST_F(OpenTest, APoolFileOfFixedSizeHoldsADB) {
  Options options = TinyOptions();
  options.pool_file = dir_ / "pool";
  options.max_pmem_bytes = 32 << 20;
  ASSERT_OK(Open(options, path()));
  Fill(0, 500);
  ASSERT_OK(db_->Close());
  std::unique_ptr<DB> second;
  ASSERT_OK(Open(options, path()));
  ExpectModel();
  EXPECT_TRUE(DB::Open(options, dir_ / "db2", &second).IsIOError());
  ExpectModel();
  ASSERT_OK(db_->Close());
  ASSERT_OK(DestroyDB(path(), options));
  EXPECT_FALSE(fs::exists(options.pool_file));
}

TEST_F(OpenTest, OtherOptionsAtReopenReadTheSameData) {
  Options options = TinyOptions();
  ASSERT_OK(Open(options, path()));
  Fill(0, 3000);
  void (*const changes[])(Options*) = {
      [](Options* o) { o->num_levels = 1; },
      [](Options* o) { o->num_levels = 7; },
      [](Options* o) { o->size_ratio = 8; },
      [](Options* o) { o->compaction_style = CompactionStyle::kLeveled; },
      [](Options* o) { o->size_ratio = 2; },
      [](Options* o) { o->compaction_style = CompactionStyle::kLazyLeveled; },
      [](Options* o) { o->compaction_style = CompactionStyle::kLeveled; },
      [](Options* o) { o->compaction_style = CompactionStyle::kTiered; },
      [](Options* o) { o->write_buffer_size = 1 << 20; },
      [](Options* o) { o->write_buffer_size = 16 << 10; },
      [](Options* o) { o->memtable = MemTableType::kHash; },
      [](Options* o) { o->failure_atomicity = FailureAtomicity::kTransaction; },
      [](Options* o) { o->failure_atomicity = FailureAtomicity::kAtomic; },
      [](Options* o) { o->target_table_bytes = 1 << 20; },
      [](Options* o) { o->filter_bits_per_key = 0; },
      [](Options* o) { o->node_bytes = 4096; },
      [](Options* o) { o->extent_bytes = 64 << 10; },
      [](Options* o) { o->max_pmem_bytes = 16 << 20; },
      [](Options* o) { o->merge_order = MergeOrder::k2Way; },
      [](Options* o) { o->max_background_jobs = 1; },
  };
  int next = 3000;
  for (const auto& change : changes) {
    ASSERT_OK(db_->Close());
    change(&options);
    SCOPED_TRACE(options.ToString());
    ASSERT_OK(Open(options, path()));
    Fill(next - 400, next + 200);
    next += 200;
    ASSERT_NO_FATAL_FAILURE(ExpectModel());
  }
  ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
  ExpectModel();
}

TEST_F(OpenTest, TheMostLevelsAndUnmergedRunsFitTheManifest) {
  Options options = TinyOptions();
  options.num_levels = 16;
  options.size_ratio = 32;
  options.disable_auto_compactions = true;
  ASSERT_OK(Open(options, path()));
  for (int i = 0; i < 300; ++i) {
    Put("key" + std::to_string(i), "v");
    FlushOptions flush;
    flush.wait = i < 256;  // no slot is left after that
    ASSERT_OK(db_->Flush(flush));
    std::string error;
    ASSERT_TRUE(db_->GetProperty("pmlsm.background-error", &error));
    ASSERT_EQ(error, "OK") << i;
    if (IntProperty(db_.get(), "pmlsm.num-immutable-mem-table") >= 2) break;
  }
  ASSERT_OK(db_->CompactRange({}, nullptr, nullptr));
  ExpectModel();
}

// ---- Kills again and again ----

TEST_F(OpenTest, OpensWithoutACloseBetweenThemUseUpNothing) {
  ASSERT_OK(Open());
  Put("a", "1");
  ASSERT_OK(db_->Flush());
  uint64_t used = 0;
  for (int i = 0; i < 30; ++i) {
    // As a kill would leave it.
    ASSERT_OK(db_->WaitForCompact());
    CopyTree(path(), dir_ / "copy");
    db_.reset();
    fs::remove_all(path());
    fs::rename(dir_ / "copy", path());
    ASSERT_OK(Open());
    ASSERT_OK(db_->WaitForCompact());
    if (i == 5) used = IntProperty(db_.get(), "pmlsm.pmem-used-bytes");
  }
  EXPECT_LE(IntProperty(db_.get(), "pmlsm.pmem-used-bytes"), used + (256 << 10));
  ExpectModel();
}

}  // namespace
}  // namespace pmlsm

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  CHECK(argc == 2);
  pmlsm::probe = argv[1];
  return RUN_ALL_TESTS();
}
