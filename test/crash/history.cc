#include "test/crash/history.h"

#include <cstdlib>

#include "util/check.h"

namespace pmlsm::crash {
namespace {

constexpr uint64_t kKeys = 150;
// Few, so that what comes later need not check megabytes.
constexpr uint64_t kHugeKeys = 16;

std::string MakeValue(uint64_t number, uint64_t bytes, Random* random) {
  std::string value = std::to_string(number) + ".";
  while (value.size() < bytes) {
    const uint64_t word = random->Next();
    value.append(reinterpret_cast<const char*>(&word), sizeof(word));
  }
  return value;
}

struct Shape {
  uint64_t changes_min, changes_max;
  uint64_t bytes_min, bytes_max;  // of a value
  uint64_t deletes_one_in;        // 0: none
  uint64_t keys = kKeys;
};

Shape ShapeOf(Style style) {
  switch (style) {
    case Style::kSmallPuts:
      return {1, 1, 10, 120, 0};
    case Style::kMediumPuts:
      return {1, 1, 100, 1000, 6};
    case Style::kHugePuts:
      return {1, 1, 16 << 10, 40 << 10, 8, kHugeKeys};
    case Style::kSmallBatches:
      return {2, 12, 10, 400, 4};
    case Style::kBigBatches:
      return {80, 120, 400, 600, 10};
  }
  CHECK(false && "a style");
  return {};
}

}  // namespace

History::History(uint64_t seed, int writer, std::vector<Chapter> chapters, bool unsynced)
    : seed_(seed), writer_(writer), chapters_(std::move(chapters)), unsynced_(unsynced) {
  for (const Chapter& chapter : chapters_) operations_ += chapter.operations;
}

std::string History::KeyPrefix() const { return "w" + std::to_string(writer_) + "k"; }

uint64_t History::OperationOf(const std::string& value) { return strtoull(value.c_str(), nullptr, 10); }

Operation History::At(uint64_t number) const {
  CHECK(number < operations_);
  uint64_t rest = number;
  size_t chapter = 0;
  while (rest >= chapters_[chapter].operations) rest -= chapters_[chapter++].operations;
  const Shape shape = ShapeOf(chapters_[chapter].style);

  Random random(seed_ * 1000003 + number * 4 + static_cast<uint64_t>(writer_));
  for (int i = 0; i < 4; ++i) random.Next();
  Operation operation;
  operation.sync = !unsynced_ || random.OneIn(3);
  const uint64_t changes = shape.changes_min + random.Uniform(shape.changes_max - shape.changes_min + 1);
  for (uint64_t i = 0; i < changes; ++i) {
    const bool deletes = shape.deletes_one_in != 0 && random.OneIn(shape.deletes_one_in);
    Change change = {deletes ? Record::kDelete : Record::kPut,
                     KeyPrefix() + std::to_string(random.Uniform(shape.keys)), ""};
    const uint64_t bytes = shape.bytes_min + random.Uniform(shape.bytes_max - shape.bytes_min + 1);
    if (!deletes) change.value = MakeValue(number, bytes, &random);
    operation.changes.push_back(std::move(change));
  }
  if (shape.deletes_one_in != 0) AddOnce(number, &random, &operation);
  return operation;
}

void History::AddOnce(uint64_t number, Random* random, Operation* operation) const {
  constexpr uint64_t kPeriod = 8;
  const bool puts = number % kPeriod == 1;
  if (!puts && number % kPeriod != 6) return;
  Change change = {puts ? Record::kPut : Record::kSingleDelete,
                   KeyPrefix() + "once" + std::to_string(number / kPeriod), ""};
  if (puts) change.value = MakeValue(number, 20, random);
  operation->changes.push_back(std::move(change));
}

void History::Apply(uint64_t number, Content* content) const {
  for (Change& change : At(number).changes) {
    if (change.record == Record::kPut) {
      (*content)[change.key] = std::move(change.value);
    } else {
      content->erase(change.key);
    }
  }
}

}  // namespace pmlsm::crash
