// What the tests of the DB share: a fresh directory, tiny options, the std::map model, and the check that all
// readers agree with it.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "pmlsm/db.h"
#include "util/check.h"
#include "util/random.h"

namespace pmlsm {

#define ASSERT_OK(expression)                \
  do {                                       \
    const ::pmlsm::Status s_ = (expression); \
    ASSERT_TRUE(s_.ok()) << s_.ToString();   \
  } while (false)
#define EXPECT_OK(expression)                \
  do {                                       \
    const ::pmlsm::Status s_ = (expression); \
    EXPECT_TRUE(s_.ok()) << s_.ToString();   \
  } while (false)

// A directory of its own, gone at the end.
class TestDir {
 public:
  TestDir() {
    char name[] = "/dev/shm/pmlsm_test.XXXXXX";
    CHECK(mkdtemp(name) != nullptr);
    path_ = name;
  }
  ~TestDir() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TestDir(const TestDir&) = delete;
  TestDir& operator=(const TestDir&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Every boundary is met in seconds.
inline Options TinyOptions() {
  Options options;
  options.create_if_missing = true;
  options.max_pmem_bytes = uint64_t{64} << 20;
  options.extent_bytes = 4 << 10;
  options.write_buffer_size = 64 << 10;
  options.target_table_bytes = 32 << 10;
  options.size_ratio = 2;
  options.num_levels = 4;
  return options;
}

// Copies a tree; holes stay holes. Of a DB that is open but at rest this is what a kill would leave.
inline void CopyTree(const std::string& from, const std::string& to) {
  const std::string command = "cp -r --sparse=always '" + from + "' '" + to + "'";
  CHECK(system(command.c_str()) == 0);
}

inline std::string ReadFile(const std::string& path) {
  std::string bytes;
  FILE* const file = fopen(path.c_str(), "r");
  if (file == nullptr) return bytes;
  char buffer[1 << 16];
  for (size_t n; (n = fread(buffer, 1, sizeof(buffer), file)) > 0;) bytes.append(buffer, n);
  fclose(file);
  return bytes;
}

inline void WriteFile(const std::string& path, const std::string& bytes) {
  FILE* const file = fopen(path.c_str(), "w");
  CHECK(file != nullptr);
  CHECK(fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size());
  CHECK(fclose(file) == 0);
}

inline uint64_t SeedFromEnvironment(const char* name, uint64_t otherwise) {
  const char* const text = getenv(name);
  return text == nullptr ? otherwise : strtoull(text, nullptr, 10);
}

inline std::string RandomBytes(Random* random, size_t bytes) {
  std::string value(bytes, 0);
  for (char& byte : value) byte = static_cast<char>(random->Next() >> 32);
  return value;
}

struct ComparatorLess {
  const Comparator* comparator = BytewiseComparator();
  bool operator()(const std::string& a, const std::string& b) const { return comparator->Compare(a, b) < 0; }
};
using Model = std::map<std::string, std::string, ComparatorLess>;

// A key or value for a message.
inline std::string Show(const Slice& bytes) {
  return bytes.size() <= 40 ? "0x" + bytes.ToString(true)
                            : "0x" + Slice(bytes.data(), 32).ToString(true) + "... (" +
                                  std::to_string(bytes.size()) + " bytes)";
}

inline ::testing::AssertionResult GetIs(DB* db, const ReadOptions& options, const std::string& key,
                                        const std::optional<std::string>& want) {
  std::string value;
  const Status s = db->Get(options, key, &value);
  if (s.IsNotFound() && !want) return ::testing::AssertionSuccess();
  if (s.ok() && want && value == *want) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "Get(" << Show(key) << ") is " << s.ToString() << " " << (s.ok() ? Show(value) : "")
         << ", wanted " << (want ? Show(*want) : "NotFound");
}

inline std::optional<std::string> Find(const Model& model, const std::string& key) {
  const auto it = model.find(key);
  if (it == model.end()) return std::nullopt;
  return it->second;
}

inline ::testing::AssertionResult IteratorIs(const Iterator& it, const Model& model,
                                             Model::const_iterator want, const std::string& after) {
  if (!it.status().ok()) return ::testing::AssertionFailure() << after << ": " << it.status().ToString();
  if (!it.Valid()) {
    if (want == model.end()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << after << ": invalid, wanted " << Show(want->first);
  }
  if (want == model.end())
    return ::testing::AssertionFailure() << after << ": at " << Show(it.key()) << ", wanted the end";
  if (it.key() == want->first && it.value() == want->second) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << after << ": at " << Show(it.key()) << " = " << Show(it.value())
                                       << ", wanted " << Show(want->first) << " = " << Show(want->second);
}

// A MultiGet of all keys, and of all again from the last to the first.
inline void ExpectMultiGet(DB* db, const ReadOptions& options, const Model& model,
                           const std::vector<std::string>& keys) {
  std::vector<Slice> asked(keys.begin(), keys.end());
  asked.insert(asked.end(), keys.rbegin(), keys.rend());
  std::vector<std::string> values = {"of before"};
  const std::vector<Status> read = db->MultiGet(options, asked, &values);
  ASSERT_EQ(read.size(), asked.size());
  ASSERT_EQ(values.size(), asked.size());
  for (size_t i = 0; i < asked.size(); ++i) {
    const std::optional<std::string> want = Find(model, asked[i].ToString());
    ASSERT_TRUE(want ? read[i].ok() : read[i].IsNotFound()) << Show(asked[i]) << ": " << read[i].ToString();
    ASSERT_EQ(values[i], want.value_or(""));
  }
}

// Readers agree: forward and backward scan, MultiGet of `probes`, and for each of them Get, Seek and SeekForPrev, all
// against the model of the state that `options` reads.
inline void ExpectReadersAgree(DB* db, const ReadOptions& options, const Model& model,
                               const std::vector<std::string>& probes) {
  const std::unique_ptr<Iterator> it(db->NewIterator(options));
  auto want = model.begin();
  for (it->SeekToFirst(); it->Valid() && want != model.end(); it->Next(), ++want) {
    ASSERT_TRUE(IteratorIs(*it, model, want, "forward scan"));
  }
  ASSERT_TRUE(IteratorIs(*it, model, want, "forward scan's end"));
  it->SeekToLast();
  for (auto back = model.rbegin(); back != model.rend(); ++back) {
    ASSERT_TRUE(IteratorIs(*it, model, std::prev(back.base()), "backward scan"));
    it->Prev();
  }
  ASSERT_TRUE(IteratorIs(*it, model, model.end(), "backward scan's end"));
  ASSERT_NO_FATAL_FAILURE(ExpectMultiGet(db, options, model, probes));
  for (const std::string& probe : probes) {
    ASSERT_TRUE(GetIs(db, options, probe, Find(model, probe)));
    it->Seek(probe);
    ASSERT_TRUE(IteratorIs(*it, model, model.lower_bound(probe), "Seek(" + Show(probe) + ")"));
    it->SeekForPrev(probe);
    const auto above = model.upper_bound(probe);
    ASSERT_TRUE(IteratorIs(*it, model, above == model.begin() ? model.end() : std::prev(above),
                           "SeekForPrev(" + Show(probe) + ")"));
  }
}

// The same with every key of the model, and of `more`, as a probe.
inline void ExpectHolds(DB* db, const Model& model, const std::vector<std::string>& more = {},
                        const ReadOptions& options = {}) {
  std::vector<std::string> probes = more;
  for (const auto& entry : model) probes.push_back(entry.first);
  ExpectReadersAgree(db, options, model, probes);
}

inline uint64_t IntProperty(DB* db, const std::string& name) {
  uint64_t value = 0;
  CHECK(db->GetIntProperty(name, &value));
  return value;
}

}  // namespace pmlsm
