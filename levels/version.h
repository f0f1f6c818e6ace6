// Version: the runs that the DB consists of at one moment, level by level. Immutable and shared; readers use
// it without a lock.
//
// Invariants (Check): 1. Level l+1 is older than level l: of two versions of a key, the newer lies in the
// upper level.
// 2. Within a level, of two versions of a key the newer lies in the run with the larger sequence_max, and runs are
// kept in that order: newest first. Sequence ranges overlap only where runs were cut or joined by key
// (CompactRange). 3. The exception that a merge in steps makes: its output (a level below, or beside
// its inputs) holds keys below its inputs' live_lower only, so the two never hold the same key.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "levels/run.h"

namespace pmlsm {

// A run and where its descriptor lies.
struct PlacedRun {
  std::shared_ptr<const Run> run;
  Span descriptor;
};

// The difference between two versions. A run that lost a part of its tables is removed and added again.
struct VersionEdit {
  struct Added {
    int level;
    PlacedRun run;
  };
  std::vector<Added> added;
  std::set<uint64_t> removed;  // run numbers
};

class Version {
 public:
  explicit Version(int levels) : levels_(levels) {}

  // This version with the edit applied. CHECKs that what is removed was there.
  std::shared_ptr<const Version> Apply(const VersionEdit& edit) const;

  int levels() const { return static_cast<int>(levels_.size()); }
  const std::vector<PlacedRun>& runs(int level) const { return levels_[level]; }  // newest first
  size_t run_count() const { return newest_first_.size(); }
  const std::vector<const Run*>& newest_first() const { return newest_first_; }
  uint64_t bytes() const;
  uint64_t entries() const;
  int deepest_level() const;  // with a run; -1 if there is none

  // Whether a table may hold the key: by the tables' key ranges alone.
  bool MayHold(const Slice& key) const;

  // The newest version of key with sequence <= snapshot, tombstones included.
  Status Get(const Slice& key, SequenceNumber snapshot, bool verify, Entry* entry, bool* found) const;

  // Reads everything. Corruption: what and where.
  Status Check() const;

 private:
  std::vector<std::vector<PlacedRun>> levels_;
  std::vector<const Run*> newest_first_;  // all levels
};
using VersionRef = std::shared_ptr<const Version>;

}  // namespace pmlsm
