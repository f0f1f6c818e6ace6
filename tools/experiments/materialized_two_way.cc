#include "tools/experiments/materialized_two_way.h"

#include <utility>

#include "compaction/forward_iterator.h"
#include "tools/experiments/for_each_survivor.h"
#include "util/check.h"

namespace pmlsm::experiments {
namespace {

// Sorted entries in DRAM: their bytes side by side, and an array of where each begins.
class DramRun {
 public:
  DramRun(uint64_t entries_max, uint64_t bytes_max) {
    places_.reserve(entries_max);
    bytes_.reserve(bytes_max);
  }

  void Add(const Entry& entry) {
    places_.push_back({entry.tag, bytes_.size(), static_cast<uint32_t>(entry.key.size()),
                       static_cast<uint32_t>(entry.value.size())});
    bytes_.insert(bytes_.end(), entry.key.data(), entry.key.data() + entry.key.size());
    bytes_.insert(bytes_.end(), entry.value.data(), entry.value.data() + entry.value.size());
  }
  uint64_t entries() const { return places_.size(); }
  uint64_t bytes() const { return bytes_.size(); }
  Entry At(size_t i) const {
    const Place& place = places_[i];
    const char* const key = bytes_.data() + place.offset;
    return Entry{Slice(key, place.key_bytes), place.tag, Slice(key + place.key_bytes, place.value_bytes)};
  }

 private:
  struct Place {
    Tag tag;
    uint64_t offset;  // of the key; the value follows
    uint32_t key_bytes;
    uint32_t value_bytes;
  };
  std::vector<Place> places_;
  std::vector<char> bytes_;
};

class DramRunIterator final : public ForwardIterator {
 public:
  explicit DramRunIterator(DramRun run) : run_(std::move(run)) {}
  void SeekToFirst() override { PlaceAt(0); }
  void Next() override {
    DCHECK(valid_);
    PlaceAt(index_ + 1);
  }
  Status status() const override { return Status::OK(); }

 private:
  void PlaceAt(size_t index) {
    index_ = index;
    valid_ = index < run_.entries();
    if (valid_) entry_ = run_.At(index);
  }

  const DramRun run_;
  size_t index_ = 0;
};

Status MergeTwo(const Comparator* comparator, SizedSource a, SizedSource b, SizedSource* merged) {
  DramRun run(a.entries + b.entries, a.bytes + b.bytes);
  Sources sources;
  sources.push_back(std::move(a.iterator));
  sources.push_back(std::move(b.iterator));
  Status s = ForEachSurvivor(MergeOrder::k2Way, comparator, std::move(sources), [&run](const Entry& entry) {
    run.Add(entry);
    return Status::OK();
  });
  if (!s.ok()) return s;
  merged->entries = run.entries();
  merged->bytes = run.bytes();
  merged->iterator = std::make_unique<DramRunIterator>(std::move(run));
  return s;
}

}  // namespace

Status MergeDownToTwo(const Comparator* comparator, std::vector<SizedSource>* sources) {
  while (sources->size() > 2) {
    std::vector<SizedSource> merged;
    for (size_t i = 0; i < sources->size(); i += 2) {
      if (i + 1 == sources->size()) {
        merged.push_back(std::move((*sources)[i]));
        break;
      }
      SizedSource pair;
      Status s = MergeTwo(comparator, std::move((*sources)[i]), std::move((*sources)[i + 1]), &pair);
      if (!s.ok()) return s;
      merged.push_back(std::move(pair));
    }
    *sources = std::move(merged);
  }
  return Status::OK();
}

}  // namespace pmlsm::experiments
