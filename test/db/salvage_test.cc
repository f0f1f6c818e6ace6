// Fault model: a DB at rest, one structure of which is damaged: a flipped bit, a line or a page of zeros, a part
// of the pool cut short or gone. The rules: 1. CheckDB names the damage, and finds none where none is.
// 2. SalvageDB's copy has every key that no reported loss covers, with its newest value, and never a value that
// the key did not have. 3. Neither changes a byte of the damaged DB. 4. The DB itself, opened as ever, answers
// right or Corruption: never a wrong value, a false NotFound, a scan that ends early with OK.
#include <algorithm>
#include <cstring>
#include <functional>
#include <set>

#include "db/offline.h"
#include "db/wal_reader.h"
#include "levels/run_descriptor.h"
#include "levels/table.h"
#include "pmem/pmdk_descriptor.h"
#include "test/db/db_test_support.h"
#include "test/db/pool_probe.h"
#include "util/hash.h"

namespace pmlsm {
namespace {

constexpr int kKeys = 4000;

// A place in the pool and what a check calls it.
struct Target {
  std::string kind;
  uint64_t offset;
  std::string name;
};

std::string Key(int i) { return "key" + std::to_string(100000 + i); }

// The names and bytes of all files below a directory.
std::map<std::string, uint64_t> Fingerprint(const std::string& directory) {
  std::map<std::string, uint64_t> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    const std::string bytes = ReadFile(entry.path());
    files[entry.path()] = Hash64(bytes.data(), bytes.size(), 0);
  }
  return files;
}

// The DB that all tests damage: runs on several levels, tombstones, overwritten keys, values in and outside the
// nodes, and a log that is not flushed. Built once.
class Image {
 public:
  Image() {
    Options options = TinyOptions();
    options.disable_auto_compactions = true;  // several runs on two levels, always
    std::unique_ptr<DB> db;
    CHECK(DB::Open(options, dir_ / "db", &db).ok());
    // Later rounds touch fewer keys, so that lower levels hold the newest version of many.
    for (int round = 0; round < 5; ++round) {
      for (int i = 0; i < kKeys; ++i) {
        if (random_.Uniform(1 + 2 * round) == 0) Touch(db.get(), i, round);
      }
      CHECK(db->Flush({}).ok());
      if (round == 1) CHECK(db->CompactRange({}, nullptr, nullptr).ok());
    }
    CHECK(db->WaitForCompact().ok());
    CopyTree(dir_ / "db", dir_ / "flushed");
    flushed_model = model;
    for (int i = 0; i < 150; ++i) Touch(db.get(), static_cast<int>(random_.Uniform(kKeys)), 5);
    CopyTree(dir_ / "db", dir_ / "image");
    CHECK(db->Close().ok());
    FindTargets();
  }

  std::string path() const { return dir_ / "image"; }
  std::string flushed_path() const { return dir_ / "flushed"; }

  Model model;
  Model flushed_model;
  std::map<std::string, std::set<std::string>> history;
  std::vector<Target> targets;

 private:
  void Touch(DB* db, int i, int round) {
    const std::string key = Key(i);
    if (round > 0 && random_.OneIn(3)) {
      CHECK(db->Delete({}, key).ok());
      model.erase(key);
      return;
    }
    // The last round stays in the log.
    const bool outside = round < 5 && random_.OneIn(4);
    const size_t bytes = outside ? 300 + random_.Uniform(6000) : random_.Uniform(120);
    const std::string value = key + "#" + std::to_string(round) + "#" + RandomBytes(&random_, bytes);
    CHECK(db->Put({}, key, value).ok());
    model[key] = value;
    history[key].insert(value);
  }

  void Add(const std::string& kind, uint64_t offset, const std::string& name) {
    targets.push_back({kind, offset, name});
  }

  void FindTargets() {
    const PoolProbe probe(path(), dir_ / "probe");
    const Pool* const pool = probe.pool.get();
    const ManifestState& state = probe.state;
    const uint64_t client = pool->header().client_offset;
    const uint64_t twins = client + sizeof(ManifestRoot);
    Add("pool header", pool->ToOffset(&pool->header()) + 16, "pool header");
    Add("creation mark", pool->ToOffset(&pool->header()) + sizeof(PoolHeader), "pool header");
    Add("root offset", kPmdkRootOffsetOffset, "root offset");
    Add("libpmemobj header", 24, "libpmemobj pool header");
    Add("libpmemobj descriptor", kPmdkHeapOffsetOffset, "libpmemobj pool descriptor");
    Add("heap header", PmdkWord(pool->base(), kPmdkHeapOffsetOffset) + 20, "libpmemobj heap header");
    Add("lane", 8192 + 3072 * 7 + 16, "libpmemobj lane 7");
    Add("generation word", client, "manifest's generation word");
    Add("manifest", twins + (state.generation & 1) * kManifestTwinBytes + 200, "manifest of generation");
    size_t levels_in_use = 0;
    const auto& levels = state.families[0].levels;
    for (size_t level = 0; level < levels.size(); ++level) {
      bool any = false;
      for (const uint64_t offset : levels[level]) {
        if (offset == 0) continue;
        any = true;
        AddRun(*pool, offset);
      }
      levels_in_use += any ? 1 : 0;
    }
    CHECK(levels_in_use >= 2);
    AddLog(*pool, state);
  }

  // Records that are not flushed and that later ones vouch for.
  void AddLog(const Pool& pool, const ManifestState& state) {
    WalReader reader(&pool, state.segments, state.clean_end);
    std::vector<uint64_t> payloads;
    for (WalReader::Record record; reader.Next(&record);) {
      if (record.first_sequence <= state.families[0].flushed_sequence) continue;
      payloads.push_back(pool.ToOffset(record.payload.data()));
    }
    CHECK(payloads.size() == 150);
    Add("log", payloads[0] + 5, "log, segment");
    Add("log", payloads[75] + 5, "log, segment");
    Add("log", payloads[76] - 20, "log, segment");
    Add("end of log", payloads[148] + 5, "log, segment");
  }

  void AddRun(const Pool& pool, uint64_t offset) {
    RunDescriptor descriptor;
    CHECK(ReadRunDescriptor(pool.At(offset), 1 << 20, &descriptor) == nullptr);
    Add("run descriptor", offset + 64, "run descriptor");
    // One table of each run, in different places.
    AddTable(pool, descriptor.tables[runs_++ % descriptor.tables.size()]);
  }

  void AddTable(const Pool& pool, const TableReference& reference) {
    const uint64_t start = reference.span_offset;
    std::unique_ptr<Table> table;
    CHECK(Table::Open({BytewiseComparator(), 1024, 10}, pool.At(start), {start, reference.span_bytes}, &table)
              .ok());
    const TableHeader& header = table->header();
    const std::string name = "table " + std::to_string(header.table_number) + " ";
    Add("table header", start + 100, name);
    Add("table's keys", start + header.keys_place + 2, name);
    Add("filter", start + header.filter_place + 5, name);
    Add("index", start + header.index_place + 30, name);
    Add("first node", start + header.nodes_place + 12, name);
    const std::unique_ptr<InternalIterator> it = table->NewIterator(true);
    it->SeekToFirst();
    for (uint64_t i = 0; i < header.entries / 2; ++i) it->Next();
    Add("entry", pool.ToOffset(it->entry().key.data()) + 3, name);
    for (; it->valid(); it->Next()) {
      if (it->entry().value.size() < 400) continue;
      Add("value", pool.ToOffset(it->entry().value.data()) + 300, name);
      break;
    }
  }

  TestDir dir_;
  Random random_{301};
  size_t runs_ = 0;  // that AddRun has seen
};

const Image& TheImage() {
  static const Image* const image = new Image;
  return *image;
}

class SalvageTest : public ::testing::Test {
 protected:
  SalvageTest() : image_(TheImage()) {}

  // So many of each kind.
  std::vector<Target> SomeTargets(size_t most) const {
    std::map<std::string, size_t> taken;
    std::vector<Target> some;
    for (const Target& target : image_.targets) {
      if (taken[target.kind]++ < most) some.push_back(target);
    }
    return some;
  }

  void Fresh() { Fresh(image_.path()); }
  void Fresh(const std::string& from) {
    std::filesystem::remove_all(damaged_);
    CopyTree(from, damaged_);
  }
  std::string Part(int i) const { return damaged_ + "/parts/00000" + std::to_string(i) + ".pmem"; }
  int Parts() const {
    int parts = 0;
    while (std::filesystem::exists(Part(parts))) ++parts;
    return parts;
  }

  // Changes bytes at an offset of the pool, in the files.
  void Spoil(uint64_t offset, size_t bytes, const std::function<void(char*)>& change) {
    for (int i = 0; i < Parts(); ++i) {
      const uint64_t size = std::filesystem::file_size(Part(i));
      if (offset >= size) {
        offset -= size;
        continue;
      }
      const int fd = open(Part(i).c_str(), O_RDWR);
      std::string old(bytes, 0);
      CHECK(pread(fd, old.data(), bytes, offset) == static_cast<ssize_t>(bytes));
      change(old.data());
      CHECK(pwrite(fd, old.data(), bytes, offset) == static_cast<ssize_t>(bytes));
      close(fd);
      return;
    }
    FAIL() << "offset outside the pool";
  }
  void Flip(uint64_t offset) {
    Spoil(offset, 1, [](char* byte) { *byte ^= 0x10; });
  }
  void Zero(uint64_t offset, size_t bytes) {
    Spoil(offset / bytes * bytes, bytes, [bytes](char* from) { memset(from, 0, bytes); });
  }

  static Options OfflineOptions() {
    Options options = TinyOptions();
    options.max_pmem_bytes = 0;
    return options;
  }

  // Rules 1 and 3. `name`: what one of the damages must be called; "" = any.
  OfflineReport Check(const std::string& name) {
    const auto before = Fingerprint(damaged_);
    OfflineReport report;
    EXPECT_OK(CheckDB(OfflineOptions(), damaged_, &report));
    EXPECT_FALSE(report.whole());
    const bool named = std::any_of(report.damages.begin(), report.damages.end(), [&](const DamagedPiece& d) {
      return d.structure.find(name) != std::string::npos;
    });
    EXPECT_TRUE(named) << "no damage of " << name << " in\n" << Text(report);
    EXPECT_EQ(Fingerprint(damaged_), before);
    return report;
  }

  static std::string Text(const OfflineReport& report) {
    std::string text;
    for (const DamagedPiece& piece : report.damages) text += piece.ToString() + "\n";
    for (const std::string& note : report.notes) text += "note: " + note + "\n";
    return text;
  }

  static bool Covers(const OfflineReport& report, const std::string& key) {
    return std::any_of(report.damages.begin(), report.damages.end(), [&](const DamagedPiece& d) {
      return d.loses_data && (!d.from || *d.from <= key) && (!d.to || key <= *d.to);
    });
  }

  // Rules 2 and 3. Returns the number of keys that the reported losses cover.
  int Salvage(const Model& model, bool unnamed_tables = false) {
    const auto before = Fingerprint(damaged_);
    std::filesystem::remove_all(new_);
    SalvageOptions salvage;
    salvage.options = OfflineOptions();
    salvage.unnamed_tables = unnamed_tables;
    report_ = OfflineReport();
    EXPECT_OK(SalvageDB(salvage, damaged_, new_, &report_));
    EXPECT_EQ(Fingerprint(damaged_), before);
    std::unique_ptr<DB> db;
    Options options = OfflineOptions();
    options.create_if_missing = false;
    EXPECT_OK(DB::Open(options, new_, &db));
    if (db == nullptr) return -1;
    std::string checked;
    EXPECT_TRUE(db->GetProperty("pmlsm.check", &checked) && checked == "OK") << checked;
    int covered = 0;
    for (int i = 0; i < kKeys; ++i) {
      const std::string key = Key(i);
      if (!Covers(report_, key)) {
        EXPECT_TRUE(GetIs(db.get(), {}, key, Find(model, key))) << Text(report_);
        continue;
      }
      ++covered;
      std::string value;
      const Status s = db->Get({}, key, &value);
      EXPECT_TRUE(s.IsNotFound() || (s.ok() && image_.history.at(key).count(value) != 0)) << key;
    }
    keys_ = 0;
    const std::unique_ptr<Iterator> it(db->NewIterator({}));
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++keys_;
    EXPECT_EQ(keys_, report_.keys_copied);
    return covered;
  }

  // Rule 4.
  void OpenAndRead(const Model& model) {
    Options options = TinyOptions();
    options.disable_auto_compactions = true;
    std::unique_ptr<DB> db;
    Status s = DB::Open(options, damaged_, &db);
    if (!s.ok()) {
      EXPECT_TRUE(s.IsCorruption()) << s.ToString();
      EXPECT_NE(s.ToString().find_first_of("0123456789"), std::string::npos) << "no place: " << s.ToString();
      return;
    }
    for (int i = 0; i < kKeys; ++i) {
      std::string value;
      s = db->Get({}, Key(i), &value);
      if (s.IsCorruption()) continue;
      ASSERT_TRUE(GetIs(db.get(), {}, Key(i), Find(model, Key(i))));
    }
    const std::unique_ptr<Iterator> it(db->NewIterator({}));
    auto want = model.begin();
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++want) {
      ASSERT_TRUE(want != model.end() && it->key() == want->first && it->value() == want->second);
    }
    ASSERT_TRUE(want == model.end() ? it->status().ok() || it->status().IsCorruption()
                                    : it->status().IsCorruption())
        << it->status().ToString();
    auto back = model.rbegin();
    for (it->SeekToLast(); it->Valid(); it->Prev(), ++back) {
      ASSERT_TRUE(back != model.rend() && it->key() == back->first && it->value() == back->second);
    }
    ASSERT_TRUE(back == model.rend() || it->status().IsCorruption()) << it->status().ToString();
  }

  static bool OpensWithout(const std::string& kind) {
    // libpmemobj's own: what it makes of them is not ours to test.
    return kind == "root offset" || kind == "libpmemobj header" || kind == "libpmemobj descriptor" ||
           kind == "heap header" || kind == "lane";
  }

  const Image& image_;
  TestDir dir_;
  const std::string damaged_ = dir_ / "damaged";
  const std::string new_ = dir_ / "new";
  OfflineReport report_;  // of the last Salvage
  uint64_t keys_ = 0;     // in its new DB
};

TEST_F(SalvageTest, AnUndamagedDbIsWholeAndIsCopiedWhole) {
  for (const bool flushed : {false, true}) {
    Fresh(flushed ? image_.flushed_path() : image_.path());
    const Model& model = flushed ? image_.flushed_model : image_.model;
    OfflineReport report;
    const auto before = Fingerprint(damaged_);
    ASSERT_OK(CheckDB(OfflineOptions(), damaged_, &report));
    EXPECT_TRUE(report.whole()) << Text(report);
    EXPECT_EQ(Fingerprint(damaged_), before);
    EXPECT_EQ(Salvage(model), 0);
    EXPECT_TRUE(report_.whole()) << Text(report_);
    EXPECT_EQ(keys_, model.size());
  }
}

TEST_F(SalvageTest, AFlippedBitOfAnyStructureIsNamedAndLosesNoMoreThanItSays) {
  for (const Target& target : SomeTargets(2)) {
    SCOPED_TRACE(target.kind + " at " + std::to_string(target.offset));
    Fresh();
    Flip(target.offset);
    Check(target.name);
    const int covered = Salvage(image_.model);
    if (target.kind == "first node" || target.kind == "entry" || target.kind == "value") {
      EXPECT_GT(covered, 0);
      EXPECT_LT(covered, kKeys / 4) << Text(report_);
    } else if (target.kind == "filter" || target.kind == "index" || OpensWithout(target.kind)) {
      EXPECT_EQ(covered, 0) << Text(report_);
      EXPECT_EQ(keys_, image_.model.size());
    } else if (target.kind == "table header" || target.kind == "table's keys" ||
               target.kind == "pool header" || target.kind == "creation mark") {
      EXPECT_EQ(keys_, image_.model.size()) << "all nodes can be read";
    }
    if (OpensWithout(target.kind)) continue;
    ASSERT_NO_FATAL_FAILURE(OpenAndRead(image_.model));
  }
}

TEST_F(SalvageTest, ALineOrAPageOfZerosIsFoundAndLosesNoMoreThanItSays) {
  for (const size_t bytes : {64, 4096}) {
    for (const Target& target : SomeTargets(1)) {
      SCOPED_TRACE(target.kind + " at " + std::to_string(target.offset) + ", " + std::to_string(bytes));
      // Would take the last record, too: a torn tail.
      if (target.kind == "end of log" && bytes > 64) continue;
      Fresh();
      Zero(target.offset, bytes);
      // A lane that is all zero is as good as new.
      if (target.kind != "lane") Check("");
      Salvage(image_.model);
      if (OpensWithout(target.kind) || bytes != 64) continue;
      ASSERT_NO_FATAL_FAILURE(OpenAndRead(image_.model));
    }
  }
}

TEST_F(SalvageTest, SpoiltLanesAreNamedAndLoseNothing) {
  Fresh();
  Spoil(8192, 3072 * 4, [](char* lanes) { memset(lanes, 0xa5, 3072 * 4); });
  const OfflineReport report = Check("libpmemobj lane 3");
  EXPECT_EQ(report.damages.size(), 4) << Text(report);
  EXPECT_FALSE(report.loses_data());
  EXPECT_EQ(Salvage(image_.model), 0);
}

TEST_F(SalvageTest, WithoutItsFirstPagesThePoolIsStillFound) {
  Fresh();
  Zero(0, 4096);
  Zero(4096, 4096);
  Check("libpmemobj pool header");
  EXPECT_EQ(Salvage(image_.model), 0) << Text(report_);
  EXPECT_EQ(keys_, image_.model.size());
}

TEST_F(SalvageTest, WithoutARootObjectTheManifestIsStillFound) {
  const uint64_t root = image_.targets[0].offset;
  Fresh();
  Zero(root, 4096);
  Zero(kPmdkRootOffsetOffset, 8);
  Check("pool header");
  EXPECT_EQ(Salvage(image_.model), 0) << Text(report_);
  EXPECT_EQ(keys_, image_.model.size());
}

TEST_F(SalvageTest, APartThatIsMissingOrCutShortLosesWhatWasInIt) {
  Fresh();
  const int parts = Parts();
  ASSERT_GE(parts, 3);
  for (int part = 0; part < parts; ++part) {
    for (const uint64_t left : {0u, 1u << 20, 3u << 20, 4u << 20}) {
      SCOPED_TRACE("part " + std::to_string(part) + ", " + std::to_string(left) + " bytes left");
      Fresh();
      if (left == 0) {
        std::filesystem::remove(Part(part));
      } else {
        std::filesystem::resize_file(Part(part), left);
      }
      const OfflineReport report = Check(part == 0 && left == 0 ? "manifest" : "pool");
      Salvage(image_.model);
      if (part == parts - 1) {
        EXPECT_GT(keys_, 0u) << Text(report_);
      }
    }
  }
}

// A lost manifest in force: the other one is a state of the DB, a publish older.
TEST_F(SalvageTest, WithoutTheManifestInForceTheOneBeforeItIsUsed) {
  Fresh();
  for (const Target& target : image_.targets) {
    if (target.kind == "manifest") Zero(target.offset, 64);
  }
  Check("manifest of generation");
  Salvage(image_.model);
  EXPECT_GT(keys_, 0u);
}

// Neither an older state nor one that was not published: whatever the generation's parity.
TEST_F(SalvageTest, AFlippedBitOfTheGenerationWordOpensNoOtherState) {
  const auto word = std::find_if(image_.targets.begin(), image_.targets.end(),
                                 [](const Target& t) { return t.kind == "generation word"; });
  Fresh();
  Options options = TinyOptions();
  options.disable_auto_compactions = true;
  std::unique_ptr<DB> db;
  std::vector<std::string> states;
  const auto keep = [&] {
    states.push_back(dir_ / ("state" + std::to_string(states.size())));
    CopyTree(damaged_, states.back());
  };
  for (int round = 0; round < 2; ++round) {
    ASSERT_OK(DB::Open(options, damaged_, &db));
    ASSERT_OK(db->Flush({}));
    keep();
    ASSERT_OK(db->Put({}, "k", std::to_string(round)));
    ASSERT_OK(db->Flush({}));
    keep();
    ASSERT_OK(db->Close());
    keep();
  }
  for (const std::string& state : states) {
    for (int bit = 0; bit < 10; ++bit) {
      Fresh(state);
      Spoil(word->offset + bit / 8, 1, [bit](char* byte) { *byte ^= static_cast<char>(1 << bit % 8); });
      const Status s = DB::Open(options, damaged_, &db);
      EXPECT_TRUE(s.IsCorruption()) << state << ", bit " << bit << ": " << s.ToString();
      db.reset();
      Check("manifest's generation word");
    }
  }
}

TEST_F(SalvageTest, WithoutAnyManifestTablesAreFoundIfAskedFor) {
  Fresh(image_.flushed_path());
  for (const Target& target : image_.targets) {
    if (target.kind != "generation word") continue;
    for (int i = 0; i < 2; ++i) Zero(target.offset + sizeof(ManifestRoot) + i * kManifestTwinBytes, 256);
  }
  Check("manifest");
  Salvage(image_.flushed_model);
  EXPECT_EQ(keys_, 0u);
  Salvage(image_.flushed_model, /*unnamed_tables=*/true);
  EXPECT_GE(keys_, image_.flushed_model.size());
}

TEST_F(SalvageTest, RecordsBehindLogDamageAreCopiedAndTheHoleIsReported) {
  Fresh();
  const auto log = std::find_if(image_.targets.begin(), image_.targets.end(),
                                [](const Target& t) { return t.kind == "log"; });
  Flip(log->offset);
  Check("log, segment");
  Salvage(image_.model);
  EXPECT_NE(Text(report_).find("history has a hole here"), std::string::npos) << Text(report_);
  // All but the keys of one record are as they were.
  std::unique_ptr<DB> db;
  ASSERT_OK(DB::Open(OfflineOptions(), new_, &db));
  int different = 0;
  for (int i = 0; i < kKeys; ++i) {
    if (!GetIs(db.get(), {}, Key(i), Find(image_.model, Key(i)))) ++different;
  }
  EXPECT_LE(different, 1);
}

TEST_F(SalvageTest, ADbThatIsOpenIsRefused) {
  std::unique_ptr<DB> db;
  Fresh();
  ASSERT_OK(DB::Open(TinyOptions(), damaged_, &db));
  OfflineReport report;
  const Status s = CheckDB(OfflineOptions(), damaged_, &report);
  EXPECT_TRUE(s.IsIOError() && s.ToString().find("lock") != std::string::npos) << s.ToString();
  SalvageOptions salvage;
  salvage.options = OfflineOptions();
  EXPECT_TRUE(SalvageDB(salvage, damaged_, new_, &report).IsIOError());
  EXPECT_FALSE(std::filesystem::exists(new_));
}

TEST_F(SalvageTest, ADirectoryThatIsNoDbOrHasOneIsRefused) {
  OfflineReport report;
  EXPECT_TRUE(CheckDB(OfflineOptions(), dir_ / "nothing", &report).IsPathNotFound());
  EXPECT_FALSE(std::filesystem::exists(dir_ / "nothing"));
  Fresh();
  SalvageOptions salvage;
  salvage.options = OfflineOptions();
  EXPECT_TRUE(SalvageDB(salvage, damaged_, damaged_, &report).IsInvalidArgument());
  CopyTree(image_.path(), new_);
  EXPECT_TRUE(SalvageDB(salvage, damaged_, new_, &report).IsInvalidArgument());
}

TEST_F(SalvageTest, ALaterFormatIsRefusedAndNotTakenForDamage) {
  const auto header = std::find_if(image_.targets.begin(), image_.targets.end(),
                                   [](const Target& target) { return target.kind == "pool header"; });
  Fresh();
  Spoil(header->offset - 16, sizeof(PoolHeader), [](char* bytes) {
    auto* const changed = reinterpret_cast<PoolHeader*>(bytes);
    changed->format_version = kFormatVersion + 7;
    changed->checksum = 0;
    changed->checksum = Checksum32(changed, sizeof(*changed));
  });
  OfflineReport report;
  const Status status = CheckDB(OfflineOptions(), damaged_, &report);
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  EXPECT_NE(status.ToString().find("format " + std::to_string(kFormatVersion + 7)), std::string::npos);
}

// Anything that lies in a structure, wherever: flips at random places of all tables, descriptors and logs.
TEST_F(SalvageTest, RandomFlipsNeverGiveAWrongValue) {
  const uint64_t seed = SeedFromEnvironment("PMLSM_SEED", 17);
  printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Random random(seed);
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Fresh();
    for (int i = 0; i < 8; ++i) {
      const Target& target = image_.targets[random.Uniform(image_.targets.size())];
      if (OpensWithout(target.kind) || target.kind == "pool header") continue;
      // The last records of the log look like a torn tail if they are damaged: not beyond those that do not.
      const bool near =
          target.kind.find("log") != std::string::npos || target.kind.find("manifest") != std::string::npos;
      const uint64_t reach = near ? 16 : 16 << 10;
      Flip(target.offset + random.Uniform(reach));
    }
    OfflineReport report;
    ASSERT_OK(CheckDB(OfflineOptions(), damaged_, &report));
    Salvage(image_.model);
    ASSERT_NO_FATAL_FAILURE(OpenAndRead(image_.model));
  }
}

}  // namespace
}  // namespace pmlsm
