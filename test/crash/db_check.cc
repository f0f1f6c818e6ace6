#include "test/crash/db_check.h"

#include <algorithm>
#include <memory>

namespace pmlsm::crash {
namespace {

// Keys that checkers write: after all others.
constexpr char kOwnPrefix[] = "zz";
// Every so many images, the more costly checks.
constexpr uint64_t kReopenOneIn = 6;
constexpr uint64_t kMergeOneIn = 4;

std::string Wrong(const char* where, const Status& status) {
  return std::string(where) + ": " + status.ToString();
}

// A family's content by a forward scan, a backward scan and Get, which must agree.
std::string ReadFamily(DB* db, ColumnFamilyHandle* family, Content* content) {
  content->clear();
  const std::unique_ptr<Iterator> it(db->NewIterator({}, family));
  std::string last;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const std::string key = it->key().ToString();
    if (!content->empty() && key <= last) return "scan: keys do not ascend at " + key;
    (*content)[key] = it->value().ToString();
    last = key;
  }
  if (!it->status().ok()) return Wrong("forward scan", it->status());
  auto expected = content->rbegin();
  for (it->SeekToLast(); it->Valid(); it->Prev(), ++expected) {
    if (expected == content->rend()) return "backward scan: a key that the forward scan lacks";
    if (it->key() != Slice(expected->first) || it->value() != Slice(expected->second)) {
      return "backward scan: " + it->key().ToString() + " where the forward scan has " + expected->first;
    }
  }
  if (!it->status().ok()) return Wrong("backward scan", it->status());
  if (expected != content->rend()) return "backward scan: ends before " + expected->first;
  std::string value;
  for (const auto& [key, scanned] : *content) {
    const Status status = db->Get({}, family, key, &value);
    if (!status.ok()) return Wrong(("Get of " + key).c_str(), status);
    if (value != scanned) return "Get of " + key + " differs from the scan";
  }
  return "";
}

// What all families hold; each key where it belongs.
std::string ReadAll(const DbHandles& opened, Content* content) {
  content->clear();
  for (ColumnFamilyHandle* family : opened.Lasting()) {
    Content own;
    const std::string wrong = ReadFamily(opened.db.get(), family, &own);
    if (!wrong.empty()) return "family " + family->GetName() + ": " + wrong;
    for (const auto& [key, value] : own) {
      const bool here = (opened.Of(key) == nullptr) == (family->GetID() == 0);
      if (!here) return key + " is in family " + family->GetName();
    }
    content->insert(own.begin(), own.end());
  }
  if (opened.passing == nullptr) return "";
  Content passing;
  std::string wrong = ReadFamily(opened.db.get(), opened.passing, &passing);
  const bool right = passing.empty() || passing == Content{{kPassingKey, kPassingValue}};
  if (wrong.empty() && !right) wrong = "the passing family holds what was never written to it";
  return wrong;
}

std::string CheckStructures(DB* db) {
  std::string text;
  if (!db->GetProperty("pmlsm.check", &text)) return "no property pmlsm.check";
  return text == "OK" ? "" : "structures: " + text;
}

std::string FirstDifference(const Content& content, const Content& expected) {
  for (const auto& [key, value] : expected) {
    const auto found = content.find(key);
    const std::string operation = std::to_string(History::OperationOf(value));
    if (found == content.end()) return key + " of operation " + operation + " is missing";
    if (found->second != value) {
      return key + " is of operation " + std::to_string(History::OperationOf(found->second)) + ", not " +
             operation;
    }
  }
  for (const auto& [key, value] : content) {
    if (expected.count(key) == 0) {
      return key + " of operation " + std::to_string(History::OperationOf(value)) + " should not be there";
    }
  }
  return "";
}

}  // namespace

DbCheck::DbCheck(const DbRunConfig& config) : config_(config) {
  for (const History& history : MakeHistories(config)) models_.push_back({history, 0, {}});
}

std::string DbCheck::Check(const std::string& directory, const DbOracle& before, const DbOracle& after) {
  Options options = MakeOptions(config_);
  options.create_if_missing = before.created == 0;
  DbHandles opened;
  Status status = OpenDb(config_, options, DbDirectory(directory), before.created != 0, &opened);
  if (!status.ok()) return Wrong("open", status);
  Content content;
  std::string wrong = ReadAll(opened, &content);
  if (wrong.empty()) wrong = CheckContent(content, before, after);
  if (wrong.empty()) wrong = CheckStructures(opened.db.get());
  const bool reopen = ++images_ % kReopenOneIn == 0;
  if (wrong.empty() && reopen) wrong = CheckUse(opened, &content);
  if (!wrong.empty()) return wrong;
  opened.Release();
  status = opened.db->Close();
  if (!status.ok()) return Wrong("close", status);
  opened.db.reset();
  if (!reopen) return "";

  options.create_if_missing = false;
  status = OpenDb(config_, options, DbDirectory(directory), true, &opened);
  if (!status.ok()) return Wrong("second open", status);
  Content again;
  wrong = ReadAll(opened, &again);
  if (wrong.empty()) wrong = FirstDifference(again, content);
  return wrong.empty() ? "" : "after recovery and a clean close: " + wrong;
}

std::string DbCheck::CheckContent(const Content& content, const DbOracle& before, const DbOracle& after) {
  size_t keys = 0;
  for (size_t i = 0; i < models_.size(); ++i) {
    Model* const model = &models_[i];
    const std::string prefix = model->history.KeyPrefix();
    const Content mine(content.lower_bound(prefix), content.lower_bound(prefix + "~"));
    keys += mine.size();
    const uint64_t observed = i == 0 ? before.observed : 0;
    std::string wrong =
        CheckWriter(mine, std::max(before.writer[i].acknowledged, observed), after.writer[i].started, model);
    if (!wrong.empty()) return wrong;
  }
  return keys == content.size() ? "" : "keys that nobody has written";
}

std::string DbCheck::CheckWriter(const Content& content, uint64_t at_least, uint64_t at_most,
                                 Model* model) const {
  // What was acknowledged in an earlier image still is.
  while (model->operations < at_least) model->history.Apply(model->operations++, &model->content);
  if (content == model->content) return "";
  Content later = model->content;
  for (uint64_t n = at_least; n < at_most; ++n) {
    model->history.Apply(n, &later);
    if (content == later) return "";
  }
  return "content of writer " + model->history.KeyPrefix() + " after " + std::to_string(at_least) +
         " operations acknowledged and " + std::to_string(at_most) +
         " started: against those acknowledged, " + FirstDifference(content, model->content) +
         "; against all, " + FirstDifference(content, later);
}

// The DB takes writes and keeps its structures sound.
std::string DbCheck::CheckUse(const DbHandles& opened, Content* content) {
  DB* const db = opened.db.get();
  WriteBatch batch;
  for (int i = 0; i < 8; ++i) {
    const std::string key = kOwnPrefix + std::to_string(i);
    const std::string value(200 * i, static_cast<char>('a' + i));
    ColumnFamilyHandle* const family = opened.Of(key);
    Status status = i % 3 == 0
                        ? db->Put({}, family == nullptr ? db->DefaultColumnFamily() : family, key, value)
                        : batch.Put(family, key, value);
    if (!status.ok()) return Wrong("put after recovery", status);
    (*content)[key] = value;
  }
  Status status = db->Write({}, &batch);
  if (!status.ok()) return Wrong("batch after recovery", status);
  if (images_ / kReopenOneIn % kMergeOneIn == 0) {
    for (ColumnFamilyHandle* family : opened.Lasting()) {
      if (status.ok()) status = db->CompactRange({}, family, nullptr, nullptr);
    }
    if (!status.ok()) return Wrong("merge after recovery", status);
  }
  Content now;
  std::string wrong = ReadAll(opened, &now);
  if (wrong.empty()) wrong = FirstDifference(now, *content);
  return wrong.empty() ? CheckStructures(db) : wrong;
}

}  // namespace pmlsm::crash
