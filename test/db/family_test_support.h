// What the tests of column families share: a DB whose families go by name, a model of each, and the states in which
// every answer must be the same.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "test/db/db_test_support.h"

namespace pmlsm {

inline ColumnFamilyOptions FamilyOptions() { return TinyOptions(); }

inline ::testing::AssertionResult FamilyHolds(DB* db, ColumnFamilyHandle* handle, const Model& model,
                                              const ReadOptions& options = {}) {
  const std::unique_ptr<Iterator> it(db->NewIterator(options, handle));
  auto want = model.begin();
  for (it->SeekToFirst(); it->Valid() && want != model.end(); it->Next(), ++want) {
    const auto same = IteratorIs(*it, model, want, "forward scan of " + handle->GetName());
    if (!same) return same;
  }
  const auto ended = IteratorIs(*it, model, want, "end of the scan of " + handle->GetName());
  if (!ended) return ended;
  for (const auto& [key, value] : model) {
    std::string found;
    const Status s = db->Get(options, handle, key, &found);
    if (s.ok() && found == value) continue;
    return ::testing::AssertionFailure() << "Get(" << Show(key) << ") of " << handle->GetName() << " is "
                                         << s.ToString() << " " << Show(found) << ", wanted " << Show(value);
  }
  return ::testing::AssertionSuccess();
}

class FamilyTest : public ::testing::Test {
 protected:
  FamilyTest() : options_(TinyOptions()), path_(dir_ / "db") {
    options_.create_missing_column_families = true;
  }
  ~FamilyTest() override { Close(); }

  DB* db() { return db_.get(); }
  const std::string& path() const { return path_; }
  DBOptions& options() { return options_; }
  // Of the next Open.
  ColumnFamilyOptions& family_options(const std::string& name) {
    return family_options_.emplace(name, FamilyOptions()).first->second;
  }
  ColumnFamilyHandle* handle(const std::string& name) {
    const auto found = handles_.find(name);
    CHECK(found != handles_.end());
    return found->second;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, handle] : handles_) names.push_back(name);
    return names;
  }

  Status OpenStatusAt(const std::string& path, const std::vector<std::string>& names) {
    std::vector<ColumnFamilyDescriptor> descriptors;
    for (const std::string& name : names) descriptors.emplace_back(name, family_options(name));
    std::vector<ColumnFamilyHandle*> handles;
    Status s = DB::Open(options_, path, descriptors, &handles, &db_);
    EXPECT_EQ(s.ok(), db_ != nullptr);
    EXPECT_EQ(handles.size(), s.ok() ? names.size() : 0);
    for (size_t i = 0; i < handles.size(); ++i) handles_[names[i]] = handles[i];
    return s;
  }
  Status OpenStatus(const std::vector<std::string>& names) { return OpenStatusAt(path_, names); }
  void Open(const std::vector<std::string>& names) {
    const Status s = OpenStatus(names);
    if (!s.ok()) fprintf(stderr, "open: %s\n", s.ToString().c_str());
    CHECK(s.ok());
  }
  void Close() {
    for (const auto& [name, handle] : handles_) {
      const Status s = db_->DestroyColumnFamilyHandle(handle);
      CHECK(s.ok());
    }
    handles_.clear();
    db_.reset();
  }
  void Reopen() {
    const std::vector<std::string> all = names();
    Close();
    Open(all);
  }
  // A copy of the directory as a killed process would leave it.
  std::string CopyAsKilled() {
    CHECK(db_->PauseBackgroundWork().ok());
    const std::string copy = dir_ / ("killed" + std::to_string(++kills_));
    CopyTree(path_, copy);
    CHECK(db_->ContinueBackgroundWork().ok());
    return copy;
  }
  // Goes on with what a kill leaves, with the families that there are handles for, or that are remembered.
  void Kill() {
    const std::string copy = CopyAsKilled();
    std::vector<std::string> all = names();
    all.insert(all.end(), remembered_.begin(), remembered_.end());
    remembered_.clear();
    Close();
    path_ = copy;
    Open(all);
  }
  std::vector<std::string> List() {
    std::vector<std::string> names;
    EXPECT_OK(DB::ListColumnFamilies(options_, path_, &names));
    return names;
  }
  // Of the DB that is open with these families.
  std::vector<std::string> List(const std::vector<std::string>& open_with) {
    Close();
    std::vector<std::string> names = List();
    Open(open_with);
    return names;
  }

  void Create(const std::string& name, const ColumnFamilyOptions& options = FamilyOptions()) {
    ColumnFamilyHandle* handle = nullptr;
    const Status s = db_->CreateColumnFamily(options, name, &handle);
    ASSERT_TRUE(s.ok()) << s.ToString();
    family_options_[name] = options;
    handles_[name] = handle;
  }
  void Drop(const std::string& name) {
    ASSERT_OK(db_->DropColumnFamily(handle(name)));
    Forget(name);
  }
  void Adopt(const std::string& name, ColumnFamilyHandle* handle) { handles_[name] = handle; }
  // The handle is the caller's.
  ColumnFamilyHandle* Take(const std::string& name) {
    ColumnFamilyHandle* const taken = handle(name);
    handles_.erase(name);
    return taken;
  }
  void Forget(const std::string& name) { ASSERT_OK(db_->DestroyColumnFamilyHandle(Take(name))); }
  void Remember(const std::string& name) { remembered_.push_back(name); }

  // Keys and values of a known form.
  static std::string FillKey(int i) { return "key" + std::to_string(100000 + i); }
  static std::string FillValue(int i) { return std::to_string(i) + std::string(100, 'v'); }
  static Model FillModel(int count) {
    Model model;
    for (int i = 0; i < count; ++i) model[FillKey(i)] = FillValue(i);
    return model;
  }
  void Fill(const std::string& name, int count) {
    for (int i = 0; i < count; ++i)
      ASSERT_OK(db_->Put(WriteOptions(), handle(name), FillKey(i), FillValue(i)));
  }

  ::testing::AssertionResult Holds(const std::string& name, const Model& model,
                                   const ReadOptions& options = {}) {
    return FamilyHolds(db_.get(), handle(name), model, options);
  }
  uint64_t FamilyProperty(const std::string& name, const std::string& property) {
    uint64_t value = 0;
    CHECK(db_->GetIntProperty(handle(name), property, &value));
    return value;
  }
  uint64_t UsedBytes() { return IntProperty(db_.get(), "pmlsm.pmem-used-bytes"); }

  // Memtable, flushed, merged, reopened, killed.
  void ExpectInEachState(const std::function<void()>& expect) {
    const auto state = [&](const char* name) {
      SCOPED_TRACE(name);
      expect();
    };
    state("memtable");
    Kill();
    state("killed before a flush");
    for (const std::string& name : names()) ASSERT_OK(db_->Flush(FlushOptions(), handle(name)));
    state("flushed");
    for (const std::string& name : names())
      ASSERT_OK(db_->CompactRange(CompactRangeOptions(), handle(name), nullptr, nullptr));
    state("merged");
    Kill();
    state("killed after a merge");
    Reopen();
    state("reopened");
  }

  // For what another thread brings about; the test's time limit ends it.
  static void WaitUntil(const std::function<bool()>& holds) {
    while (!holds()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  TestDir dir_;
  DBOptions options_;
  std::string path_;
  int kills_ = 0;
  std::map<std::string, ColumnFamilyOptions> family_options_;
  std::map<std::string, ColumnFamilyHandle*> handles_;
  std::vector<std::string> remembered_;
  std::unique_ptr<DB> db_;
};

}  // namespace pmlsm
