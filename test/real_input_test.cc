// Real text: Debian's package descriptions (tens of thousands of stanzas of about 1 KB), loaded by the pmlsm
// tool, against a plain std::map. The loader is killed on the way, too.
//
// argv[1] is the tool. Input: what `apt-cache dumpavail` prints, if that is thousands of stanzas, else
// /var/lib/dpkg/status; the test says which.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "pmlsm/db.h"
#include "util/random.h"

namespace pmlsm {
namespace {

using Model = std::map<std::string, std::string>;
using Entries = std::vector<std::pair<std::string, std::string>>;

constexpr size_t kStanzasWanted = 5000;
constexpr uint64_t kBatchSize = 50;
constexpr uint64_t kProgressEvery = 500;
constexpr uint64_t kSeed = 301;

std::string tool;

// What the tool is to make of the text, written without a look at how it does it.
Entries ParseStanzas(const std::string& text) {
  Entries entries;
  std::string stanza, name;
  std::istringstream lines(text + "\n\n");
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) {
      if (!stanza.empty()) entries.emplace_back(name, stanza);
      stanza.clear();
      continue;
    }
    if (line.rfind("Package: ", 0) == 0) name = line.substr(9);
    stanza += line + "\n";
  }
  return entries;
}

std::string ReadAll(FILE* file) {
  std::string text;
  char buffer[1 << 16];
  for (size_t n; (n = fread(buffer, 1, sizeof(buffer), file)) > 0;) text.append(buffer, n);
  return text;
}

struct Input {
  std::string text;
  Entries entries;
};

Input FindInput() {
  Input input;
  FILE* const apt = popen("apt-cache dumpavail 2>/dev/null", "r");
  if (apt != nullptr) {
    input.text = ReadAll(apt);
    pclose(apt);
    input.entries = ParseStanzas(input.text);
  }
  const char* source = "apt-cache dumpavail";
  if (input.entries.size() < kStanzasWanted) {
    source = "/var/lib/dpkg/status (apt-cache dumpavail has too few stanzas)";
    std::ifstream status("/var/lib/dpkg/status");
    input.text.assign(std::istreambuf_iterator<char>(status), {});
    input.entries = ParseStanzas(input.text);
  }
  std::cout << "input: " << source << ": " << input.entries.size() << " stanzas, " << input.text.size()
            << " bytes\n";
  return input;
}

const Input& TheInput() {
  static const Input* const input = new Input(FindInput());
  return *input;
}

// The tool, loading the input, its stderr in a pipe.
class LoaderProcess {
 public:
  explicit LoaderProcess(const std::vector<std::string>& arguments) {
    int ends[2];
    if (pipe(ends) != 0) abort();
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], STDERR_FILENO);
      close(ends[0]);
      close(ends[1]);
      const int null = open("/dev/null", O_WRONLY);
      dup2(null, STDOUT_FILENO);
      std::vector<char*> argv = {tool.data()};
      for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
      argv.push_back(nullptr);
      execv(tool.c_str(), argv.data());
      _exit(127);
    }
    close(ends[1]);
    progress_ = fdopen(ends[0], "r");
  }
  ~LoaderProcess() {
    fclose(progress_);
    if (pid_ > 0) Wait();
  }

  // The count of the next progress line; false at the end of the output.
  bool NextProgress(uint64_t* entries) {
    char line[512];
    while (fgets(line, sizeof(line), progress_) != nullptr) {
      unsigned long long count = 0;
      if (sscanf(line, "loaded %llu entries", &count) == 1) {
        *entries = count;
        return true;
      }
      std::cout << "tool: " << line;
    }
    return false;
  }
  void Kill() { kill(pid_, SIGKILL); }
  // The exit code, or the negative signal.
  int Wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_;
  FILE* progress_;
};

class RealInputTest : public testing::TestWithParam<MemTableType> {
 protected:
  void SetUp() override {
    ASSERT_FALSE(TheInput().entries.empty()) << "no package descriptions on this machine";
    std::string path = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : testing::TempDir();
    path += "/pmlsm_real_input.XXXXXX";
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    directory_ = path;
    std::ofstream(InputFile(), std::ios::binary) << TheInput().text;
  }
  void TearDown() override {
    if (directory_.empty()) return;
    EXPECT_TRUE(DestroyDB(DbPath(), DbOptions()).ok());
    unlink(InputFile().c_str());
    // Leaves the directory there, and so shows, if the DB left something behind.
    EXPECT_EQ(rmdir(directory_.c_str()), 0) << directory_;
  }

  std::string InputFile() const { return directory_ + "/input"; }
  std::string DbPath() const { return directory_ + "/db"; }
  // Small memtables and tables, so that the load flushes and merges hundreds of times.
  Options DbOptions() const {
    Options options;
    options.memtable = GetParam();
    options.write_buffer_size = 256 << 10;
    options.target_table_bytes = 1 << 20;
    options.max_pmem_bytes = uint64_t{1} << 30;
    return options;
  }
  std::vector<std::string> LoadCommand() const {
    return {"--db=" + DbPath(),
            "--create",
            std::string("--memtable=") + ToString(GetParam()),
            "--write-buffer-size=262144",
            "--target-table-bytes=1048576",
            "--max-pmem-bytes=1GiB",
            "load",
            "--stanzas",
            "--batch-size=" + std::to_string(kBatchSize),
            "--progress-every=" + std::to_string(kProgressEvery),
            InputFile()};
  }

  void LoadAll() {
    LoaderProcess loader(LoadCommand());
    uint64_t entries = 0;
    while (loader.NextProgress(&entries)) {
    }
    ASSERT_EQ(loader.Wait(), 0);
  }

  std::unique_ptr<DB> OpenDb() {
    std::unique_ptr<DB> db;
    const Status s = DB::Open(DbOptions(), DbPath(), &db);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return db;
  }

  std::string directory_;
};

// The model after the first `count` entries of the input.
Model ModelOf(uint64_t count) {
  Model model;
  const Entries& entries = TheInput().entries;
  for (uint64_t i = 0; i < count && i < entries.size(); ++i) model[entries[i].first] = entries[i].second;
  return model;
}

Model Contents(DB* db) {
  Model contents;
  const std::unique_ptr<Iterator> it(db->NewIterator({}));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const bool is_new = contents.emplace(it->key().ToString(), it->value().ToString()).second;
    EXPECT_TRUE(is_new) << it->key().ToString() << " twice";
  }
  EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  return contents;
}

void ExpectGetsEqual(DB* db, const Model& model) {
  std::string value;
  for (const auto& [key, want] : model) {
    const Status s = db->Get({}, key, &value);
    ASSERT_TRUE(s.ok()) << key << ": " << s.ToString();
    ASSERT_EQ(value, want) << key;
    ASSERT_TRUE(db->Get({}, key + "~", &value).IsNotFound() || model.count(key + "~") == 1) << key << "~";
  }
}

// A forward and a backward walk see exactly the model, in its order.
void ExpectScansEqual(DB* db, const Model& model) {
  const std::unique_ptr<Iterator> it(db->NewIterator({}));
  it->SeekToFirst();
  for (const auto& [key, value] : model) {
    ASSERT_TRUE(it->Valid()) << "ended before " << key << ": " << it->status().ToString();
    ASSERT_EQ(it->key(), Slice(key));
    ASSERT_EQ(it->value(), Slice(value)) << key;
    it->Next();
  }
  ASSERT_FALSE(it->Valid());
  it->SeekToLast();
  for (auto want = model.rbegin(); want != model.rend(); ++want, it->Prev()) {
    ASSERT_TRUE(it->Valid()) << "ended before " << want->first << ": " << it->status().ToString();
    ASSERT_EQ(it->key(), Slice(want->first));
    ASSERT_EQ(it->value(), Slice(want->second)) << want->first;
  }
  ASSERT_FALSE(it->Valid());
  ASSERT_TRUE(it->status().ok()) << it->status().ToString();
}

void ExpectAt(const Iterator& it, const Model& model, Model::const_iterator want, const std::string& target) {
  ASSERT_EQ(it.Valid(), want != model.end()) << target;
  if (!it.Valid()) return;
  ASSERT_EQ(it.key(), Slice(want->first)) << target;
  ASSERT_EQ(it.value(), Slice(want->second)) << target;
}

// Seeks to keys, to their beginnings and to what lies just behind them, then a few steps either way.
void ExpectSeeksEqual(DB* db, const Model& model) {
  std::cout << "seed " << kSeed << "\n";
  Random random(kSeed);
  const Entries& entries = TheInput().entries;
  const std::unique_ptr<Iterator> it(db->NewIterator({}));
  for (int i = 0; i < 5000; ++i) {
    std::string target = entries[random.Uniform(entries.size())].first;
    if (random.OneIn(3)) target.resize(random.Uniform(target.size() + 1));
    if (random.OneIn(3)) target += static_cast<char>(random.Uniform(256));

    auto want = model.lower_bound(target);
    it->Seek(target);
    ASSERT_NO_FATAL_FAILURE(ExpectAt(*it, model, want, target));
    for (int step = 0; step < 3 && want != model.end(); ++step) {
      it->Next(), ++want;
      ASSERT_NO_FATAL_FAILURE(ExpectAt(*it, model, want, target));
    }

    want = model.upper_bound(target);
    want = want == model.begin() ? model.end() : std::prev(want);
    it->SeekForPrev(target);
    ASSERT_NO_FATAL_FAILURE(ExpectAt(*it, model, want, target));
    for (int step = 0; step < 3 && want != model.end(); ++step) {
      it->Prev();
      want = want == model.begin() ? model.end() : std::prev(want);
      ASSERT_NO_FATAL_FAILURE(ExpectAt(*it, model, want, target));
    }
  }
}

void ExpectEqual(DB* db, const Model& model) {
  ASSERT_NO_FATAL_FAILURE(ExpectGetsEqual(db, model));
  ASSERT_NO_FATAL_FAILURE(ExpectScansEqual(db, model));
  ASSERT_NO_FATAL_FAILURE(ExpectSeeksEqual(db, model));
}

TEST_P(RealInputTest, EveryAnswerEqualsAPlainMapsAfterReopenAndAfterCompaction) {
  ASSERT_NO_FATAL_FAILURE(LoadAll());
  const Model model = ModelOf(TheInput().entries.size());
  std::unique_ptr<DB> db = OpenDb();
  ASSERT_NE(db, nullptr);
  ASSERT_NO_FATAL_FAILURE(ExpectEqual(db.get(), model));
  ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
  ASSERT_NO_FATAL_FAILURE(ExpectEqual(db.get(), model));
  ASSERT_TRUE(db->Close().ok());
  db = OpenDb();
  ASSERT_NE(db, nullptr);
  ASSERT_NO_FATAL_FAILURE(ExpectScansEqual(db.get(), model));
  ASSERT_TRUE(db->Close().ok());
}

TEST_P(RealInputTest, DeletedAndOverwrittenStanzasStayThatWay) {
  ASSERT_NO_FATAL_FAILURE(LoadAll());
  Model model = ModelOf(TheInput().entries.size());
  std::unique_ptr<DB> db = OpenDb();
  ASSERT_NE(db, nullptr);
  Random random(kSeed);
  for (const auto& [key, stanza] : TheInput().entries) {
    const uint64_t choice = random.Uniform(4);
    if (choice == 0) {
      ASSERT_TRUE(db->Delete({}, key).ok());
      model.erase(key);
    } else if (choice == 1) {
      const std::string value = stanza.substr(0, random.Uniform(stanza.size()));
      ASSERT_TRUE(db->Put({}, key, value).ok());
      model[key] = value;
    }
  }
  ASSERT_NO_FATAL_FAILURE(ExpectScansEqual(db.get(), model));
  ASSERT_TRUE(db->Close().ok());
  db = OpenDb();
  ASSERT_NE(db, nullptr);
  ASSERT_NO_FATAL_FAILURE(ExpectEqual(db.get(), model));
  ASSERT_TRUE(db->Close().ok());
}

// Kills the loader at a tenth, at half and at nine tenths of the way; each time the DB holds what was
// acknowledged and whole batches only, and the next load starts on that DB.
TEST_P(RealInputTest, KilledLoaderLosesNothingThatItAcknowledged) {
  const uint64_t total = TheInput().entries.size();
  // The DB as the previous load left it.
  Model before;
  for (const uint64_t tenths : {1, 5, 9}) {
    uint64_t acknowledged = 0;
    {
      LoaderProcess loader(LoadCommand());
      bool is_killed = false;
      for (uint64_t entries = 0; loader.NextProgress(&entries);) {
        acknowledged = entries;
        if (!is_killed && entries >= total * tenths / 10) loader.Kill(), is_killed = true;
      }
      ASSERT_EQ(loader.Wait(), -SIGKILL) << "the loader ended before it could be killed";
    }
    const std::unique_ptr<DB> db = OpenDb();
    ASSERT_NE(db, nullptr);
    const Model contents = Contents(db.get());

    // The model after each batch from the acknowledged one on: one of these states it must be.
    Model model = before;
    uint64_t count = 0;
    const auto apply = [&](uint64_t until) {
      for (; count < until && count < total; ++count)
        model[TheInput().entries[count].first] = TheInput().entries[count].second;
    };
    apply(acknowledged);
    while (contents != model && count < total) apply(count + kBatchSize);
    ASSERT_TRUE(contents == model) << "killed after " << acknowledged << " acknowledged entries: the DB's "
                                   << contents.size() << " keys are no state that whole batches leave";
    std::cout << "killed after " << acknowledged << " acknowledged entries; the DB holds " << count << "\n";
    ASSERT_NO_FATAL_FAILURE(ExpectGetsEqual(db.get(), model));
    ASSERT_TRUE(db->Close().ok());
    before = std::move(model);
  }
  ASSERT_NO_FATAL_FAILURE(LoadAll());
  const std::unique_ptr<DB> db = OpenDb();
  ASSERT_NE(db, nullptr);
  ASSERT_NO_FATAL_FAILURE(ExpectScansEqual(db.get(), ModelOf(total)));
  ASSERT_TRUE(db->Close().ok());
}

INSTANTIATE_TEST_SUITE_P(Memtables, RealInputTest,
                         testing::Values(MemTableType::kSorted, MemTableType::kHash),
                         [](const auto& info) { return std::string(ToString(info.param)); });

}  // namespace
}  // namespace pmlsm

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc < 2) {
    std::cerr << "usage: real_input_test <the pmlsm tool>\n";
    return 2;
  }
  pmlsm::tool = argv[1];
  return RUN_ALL_TESTS();
}
