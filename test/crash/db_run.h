// DbRun: a DB's life under power failures: creation, writes of all sizes, flushes, merges, log segments,
// growth, close and open again, and recovery from an image, itself interrupted.
//
// Thread safety: free functions, each in a process of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pmlsm/db.h"
#include "pmlsm/options.h"
#include "test/crash/history.h"
#include "test/crash/report.h"
#include "test/crash/simulator.h"

namespace pmlsm::crash {

inline constexpr int kWritersMax = 2;
// All that the family that comes and goes ever holds.
inline constexpr char kPassingKey[] = "passing key";
inline constexpr char kPassingValue[] = "passing value";

struct DbRunConfig {
  FailureAtomicity failure_atomicity = FailureAtomicity::kIndividual;
  MemTableType memtable = MemTableType::kSorted;
  MergeOrder merge_order = MergeOrder::kKWay;
  MergeDestination merge_destination = MergeDestination::kDirect;
  CompactionStyle compaction_style = CompactionStyle::kTiered;
  int background_jobs = 1;
  int writers = 1;        // threads; with 2, each has keys of its own
  bool reader = false;    // a thread that notes the newest operation it saw
  bool unsynced = false;  // some writes with sync = false
  // Half of the keys are in a second column family, so that batches span both; a third one comes and goes.
  bool families = false;
  // The pool as libpmemobj makes it: with 1024 lanes, and a count of unsafe shutdowns in its headers. An image
  // costs about twice as much with them.
  bool full_pool = false;
  uint64_t seed = 1;
  uint64_t sparseness = 1;  // of power failures: 1 = the quick test's
  int random_images = 4;    // of each, beside the fixed ones
  bool at_flushes = false;

  // "name=value ..." and back; Parse leaves what is not named.
  std::string ToString() const;
  void Parse(const std::string& text);
};

// What the program tells the checkers. Words only.
struct DbOracle {
  uint64_t created;
  struct {
    uint64_t started;       // operations
    uint64_t acknowledged;  // that must survive
  } writer[kWritersMax];
  uint64_t observed;  // operations of writer 0 that a reader saw the last one of
};

// The DB in Plan::LiveDirectory() and in an image.
std::string DbDirectory(const std::string& directory);

// A DB of one family or, by the configuration, several.
struct DbHandles {
  std::unique_ptr<DB> db;
  ColumnFamilyHandle* other = nullptr;
  ColumnFamilyHandle* passing = nullptr;  // of the family that comes and goes, while it is there

  ~DbHandles() { Release(); }
  void Release() {
    delete std::exchange(other, nullptr);
    delete std::exchange(passing, nullptr);
  }
  std::vector<ColumnFamilyHandle*> Lasting() const {
    std::vector<ColumnFamilyHandle*> handles = {db->DefaultColumnFamily()};
    if (other != nullptr) handles.push_back(other);
    return handles;
  }
  // Where a key belongs; null = the default family.
  ColumnFamilyHandle* Of(const Slice& key) const { return (key[key.size() - 1] & 1) != 0 ? other : nullptr; }
};
// Opens whatever families there are. If `must_exist`, the second one must be among them.
Status OpenDb(const DbRunConfig& config, const Options& options, const std::string& directory,
              bool must_exist, DbHandles* opened);

// The whole life. Returns what went wrong in the program itself.
std::string RunDbLife(const DbRunConfig& config, const Plan& plan, Report* report);
// Opens what an image left, lets it flush and closes it. Plan::start is the image's directory, `kept` holds
// the oracles.
std::string RunDbRecovery(const DbRunConfig& config, const Plan& plan, const std::string& kept,
                          Report* report);

Options MakeOptions(const DbRunConfig& config);
std::vector<History> MakeHistories(const DbRunConfig& config);

}  // namespace pmlsm::crash
