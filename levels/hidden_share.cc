#include "levels/hidden_share.h"

#include "util/hash.h"
#include "util/internal_key.h"
#include "util/random.h"

namespace pmlsm {
namespace {

// The place in `runs` of that which holds the entry-th entry of all, and the table of it.
size_t FindRun(const std::vector<const Run*>& runs, uint64_t entry, const Table** table) {
  for (size_t i = 0; i < runs.size(); ++i) {
    for (const TableRef& handle : runs[i]->tables()) {
      *table = &handle->table();
      const uint64_t entries = (*table)->header().entries;
      if (entry < entries) return i;
      entry -= entries;
    }
  }
  return runs.size();
}

}  // namespace

Status HiddenShare(const Version& version, int samples, uint64_t seed, double* share) {
  *share = 0;
  const std::vector<const Run*>& runs = version.newest_first();
  const uint64_t entries = version.entries();
  if (runs.size() < 2 || entries == 0) return Status::OK();
  Random random(seed);
  int hidden = 0;
  std::string key;
  for (int i = 0; i < samples; ++i) {
    const Table* table = nullptr;
    const size_t from = FindRun(runs, random.Uniform(entries), &table);
    Status s = table->SampleKey(random.Next(), &key);
    const uint64_t hash = KeyHash(key);
    bool found = false;
    for (size_t newer = 0; s.ok() && !found && newer < from; ++newer) {
      Entry entry;
      s = runs[newer]->Get(key, hash, kMaxSequenceNumber, false, &entry, &found);
    }
    if (!s.ok()) return s;
    if (found) ++hidden;
  }
  *share = static_cast<double>(hidden) / samples;
  return Status::OK();
}

}  // namespace pmlsm
