#include "levels/version.h"

#include <algorithm>

#include "util/check.h"
#include "util/hash.h"

namespace pmlsm {

VersionRef Version::Apply(const VersionEdit& edit) const {
  auto next = std::make_shared<Version>(levels());
  size_t removed = 0;
  for (int level = 0; level < levels(); ++level) {
    for (const PlacedRun& placed : levels_[level]) {
      if (edit.removed.count(placed.run->number()) != 0) {
        ++removed;
      } else {
        next->levels_[level].push_back(placed);
      }
    }
  }
  CHECK(removed == edit.removed.size());
  for (const VersionEdit::Added& added : edit.added) next->levels_[added.level].push_back(added.run);
  for (auto& runs : next->levels_) {
    std::sort(runs.begin(), runs.end(), [](const PlacedRun& a, const PlacedRun& b) {
      return a.run->sequence_max() > b.run->sequence_max();
    });
    for (const PlacedRun& placed : runs) next->newest_first_.push_back(placed.run.get());
  }
  return next;
}

uint64_t Version::bytes() const {
  uint64_t bytes = 0;
  for (const Run* run : newest_first_) bytes += run->bytes();
  return bytes;
}

uint64_t Version::entries() const {
  uint64_t entries = 0;
  for (const Run* run : newest_first_) entries += run->entries();
  return entries;
}

int Version::deepest_level() const {
  int level = levels() - 1;
  while (level >= 0 && levels_[level].empty()) --level;
  return level;
}

bool Version::MayHold(const Slice& key) const {
  return std::any_of(newest_first_.begin(), newest_first_.end(),
                     [&key](const Run* run) { return run->Overlaps(&key, &key); });
}

Status Version::Get(const Slice& key, SequenceNumber snapshot, bool verify, Entry* entry, bool* found) const {
  *found = false;
  const uint64_t hash = KeyHash(key);
  // What is looked at first is on its way from many runs before the first is looked at, so that the misses overlap.
  constexpr size_t kRunsAtOnce = 16;
  size_t started[kRunsAtOnce];
  for (size_t from = 0; from < newest_first_.size(); from += kRunsAtOnce) {
    const size_t runs = std::min(kRunsAtOnce, newest_first_.size() - from);
    for (size_t i = 0; i < runs; ++i) started[i] = newest_first_[from + i]->StartGet(key, hash);
    for (size_t i = 0; i < runs; ++i) {
      Status s = newest_first_[from + i]->FinishGet(started[i], key, hash, snapshot, verify, entry, found);
      if (!s.ok() || *found) return s;
    }
  }
  return Status::OK();
}

Status Version::Check() const {
  for (const Run* run : newest_first_) {
    Status s = run->Check();
    if (!s.ok()) return s;
  }
  return Status::OK();
}

}  // namespace pmlsm
