#include "test/crash/db_run.h"

#include <libpmemobj.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>

#include "test/crash/db_check.h"
#include "test/crash/pool_lanes.h"
#include "util/check.h"
#include "util/hooks.h"

namespace pmlsm::crash {
namespace {

// A part of the life: what is written, and how often the power fails meanwhile.
struct Act {
  const char* phase;
  Style style;
  uint64_t operations;   // of each writer
  uint64_t flush_every;  // operations; 0 = as memtables fill
  bool merges;      // waits for merges, with a snapshot held for a while, and merges everything at the end
  uint64_t one_in;  // instants
  // Free space is in pieces of this size, so that batches are logged in parts; not so in release builds
  // (util/hooks.h).
  uint64_t largest_span = UINT64_MAX;
};

constexpr uint64_t kEveryInstant = 0;  // however sparse the run is
constexpr uint64_t kMergeOneIn = 6;

constexpr Act kLife[] = {
    {"put", Style::kSmallPuts, 30, 0, false, kEveryInstant},
    {"batch", Style::kSmallBatches, 12, 0, false, kEveryInstant},
    {"large batch", Style::kBigBatches, 3, 0, false, 2},
    {"batch in parts", Style::kBigBatches, 3, 0, false, 4, 24 << 10},
    {"flush", Style::kMediumPuts, 40, 10, false, 4},
    {"merge", Style::kSmallBatches, 48, 6, true, kMergeOneIn},
    {"log", Style::kMediumPuts, 250, 0, false, 16},
    {"grow", Style::kHugePuts, 60, 0, false, 60},
    // After a clean close.
    {"put after open", Style::kSmallPuts, 16, 0, false, kEveryInstant},
};
constexpr size_t kActs = sizeof(kLife) / sizeof(kLife[0]);
constexpr uint64_t kCreateOneIn = 2;
constexpr uint64_t kCloseOneIn = 2;
// Few of its instants tell whether libpmemobj's recovery is used right: all are looked at.
constexpr uint64_t kOpenOneIn = kEveryInstant;
constexpr uint64_t kFirstOpenOneIn = 2;
constexpr uint64_t kRecoveryOneIn = 4;
constexpr uint64_t kLanes = 16;
constexpr char kOtherFamily[] = "other";
constexpr char kPassingFamily[] = "passing";

std::string Wrong(const std::string& where, const Status& status) {
  return status.ok() ? std::string() : "the program's own " + where + ": " + status.ToString();
}

Status Add(const Change& change, ColumnFamilyHandle* family, WriteBatch* batch) {
  switch (change.record) {
    case Record::kPut:
      return batch->Put(family, change.key, change.value);
    case Record::kDelete:
      return batch->Delete(family, change.key);
    case Record::kSingleDelete:
      return batch->SingleDelete(family, change.key);
  }
  return Status::NotSupported("record");
}

class SmallSpans : public HookListener {
 public:
  explicit SmallSpans(uint64_t largest) : largest_(largest) { pmlsm::hooks.SetListener(this); }
  ~SmallSpans() override { pmlsm::hooks.SetListener(nullptr); }
  uint64_t LargestSpan() override { return largest_; }

 private:
  const uint64_t largest_;
};

class DbLife {
 public:
  DbLife(const DbRunConfig& config, const Plan& plan, Simulator* simulator)
      : config_(config),
        name_(DbDirectory(plan.LiveDirectory())),
        simulator_(simulator),
        oracle_(static_cast<DbOracle*>(simulator->oracle())),
        histories_(MakeHistories(config)) {}

  std::string Run() {
    std::string wrong = Open("create", kCreateOneIn);
    if (!wrong.empty()) return wrong;
    oracle_->created = 1;
    if (!config_.full_pool) wrong = ReduceLanes();
    if (!wrong.empty()) return wrong;
    for (size_t i = 0; i + 1 < kActs; ++i) {
      wrong = Play(kLife[i]);
      if (!wrong.empty()) return std::string(kLife[i].phase) + ": " + wrong;
    }
    wrong = Close();
    if (wrong.empty()) wrong = Open("open", kOpenOneIn);
    if (wrong.empty()) {
      // Merges that Close cut short.
      SetPhase("merge", kMergeOneIn);
      wrong = Wrong("merge", db()->WaitForCompact());
    }
    if (wrong.empty()) wrong = Play(kLife[kActs - 1]);
    return wrong.empty() ? Close() : wrong;
  }

  // Of a DB that a power failure left.
  std::string Recover() {
    std::string wrong = Open("recovery", kRecoveryOneIn);
    if (wrong.empty()) wrong = Wrong("wait", db()->WaitForCompact());
    return wrong.empty() ? Close() : wrong;
  }

 private:
  DB* db() { return opened_.db.get(); }

  void SetPhase(const char* name, uint64_t one_in) {
    // What has few instants in every mode is looked at more closely.
    const uint64_t sparseness = one_in <= 2 ? std::min<uint64_t>(config_.sparseness, 4) : config_.sparseness;
    simulator_->SetPhase(name, one_in == kEveryInstant ? 1 : one_in * sparseness);
  }

  std::string Open(const char* phase, uint64_t one_in) {
    SetPhase(phase, one_in);
    Options options = MakeOptions(config_);
    options.create_if_missing = oracle_->created == 0;
    return Wrong(phase, OpenDb(config_, options, name_, oracle_->created != 0, &opened_));
  }

  std::string Close() {
    SetPhase("close", kCloseOneIn);
    opened_.Release();
    std::string wrong = Wrong("close", db()->Close());
    opened_.db.reset();
    return wrong;
  }

  std::string ReduceLanes() {
    const std::string wrong = Close();
    if (!wrong.empty()) return wrong;
    simulator_->SetPhase("", 0);
    SetLanes(name_ + "/parts/000000.pmem", kLanes);
    return Open("open", kFirstOpenOneIn);
  }

  std::string Play(const Act& act) {
    SetPhase(act.phase, act.one_in);
    const SmallSpans small_spans(act.largest_span);
    const uint64_t begin = done_;
    done_ += act.operations;
    std::vector<std::thread> threads;
    for (int i = 1; i < config_.writers; ++i)
      threads.emplace_back([this, &act, i, begin] { WriteAll(act, i, begin); });
    std::atomic<bool> written{false};
    if (config_.reader) threads.emplace_back([this, &written] { Observe(&written); });
    WriteAll(act, 0, begin);
    written = true;
    for (std::thread& thread : threads) thread.join();
    if (!wrong_.empty()) return wrong_;
    Status status = db()->WaitForCompact();
    for (ColumnFamilyHandle* family : opened_.Lasting()) {
      if (status.ok() && act.merges) status = db()->CompactRange({}, family, nullptr, nullptr);
    }
    return Wrong("merge", status);
  }

  void WriteAll(const Act& act, int writer, uint64_t begin) {
    const Snapshot* snapshot = nullptr;
    for (uint64_t i = 0; i < act.operations; ++i) {
      if (act.merges && i == act.operations / 3) snapshot = db()->GetSnapshot();
      if (act.merges && i == act.operations * 2 / 3) db()->ReleaseSnapshot(std::exchange(snapshot, nullptr));
      Status status = WriteOne(writer, begin + i);
      if (status.ok() && config_.families && writer == 0) status = ComeAndGo(begin + i);
      if (status.ok() && writer == 0 && act.flush_every != 0 && i % act.flush_every == act.flush_every - 1) {
        status = db()->Flush({}, opened_.Lasting());
        if (status.ok() && act.merges) status = db()->WaitForCompact();
      }
      if (!status.ok()) Fail(Wrong("write", status));
      if (!status.ok()) break;
    }
    if (snapshot != nullptr) db()->ReleaseSnapshot(snapshot);
  }

  // The order of these stores is what the oracle means: started, the write itself, acknowledged.
  Status WriteOne(int writer, uint64_t number) {
    const Operation operation = histories_[writer].At(number);
    WriteOptions options;
    options.sync = operation.sync;
    WriteBatch batch;
    for (const Change& change : operation.changes) {
      ColumnFamilyHandle* const family = opened_.Of(change.key);
      const Status status = Add(change, family, &batch);
      if (!status.ok()) return status;
    }
    __atomic_store_n(&oracle_->writer[writer].started, number + 1, __ATOMIC_SEQ_CST);
    const Change& first = operation.changes[0];
    Status status;
    if (operation.changes.size() > 1 || opened_.Of(first.key) != nullptr) {
      status = db()->Write(options, &batch);
    } else if (first.record == Record::kDelete) {
      status = db()->Delete(options, first.key);
    } else {
      status = db()->Put(options, first.key, first.value);
    }
    if (status.ok() && operation.sync) {
      __atomic_store_n(&oracle_->writer[writer].acknowledged, number + 1, __ATOMIC_SEQ_CST);
    }
    return status;
  }

  // A family that is created, written to and dropped again; it may be there when the power fails, or not.
  Status ComeAndGo(uint64_t number) {
    constexpr uint64_t kPeriod = 9;
    if (number % kPeriod == 3 && opened_.passing == nullptr) {
      return db()->CreateColumnFamily(MakeOptions(config_), kPassingFamily, &opened_.passing);
    }
    if (number % kPeriod == 4 && opened_.passing != nullptr) {
      return db()->Put({}, opened_.passing, kPassingKey, kPassingValue);
    }
    if (number % kPeriod != 7 || opened_.passing == nullptr) return Status::OK();
    const Status status = db()->DropColumnFamily(opened_.passing);
    delete std::exchange(opened_.passing, nullptr);
    return status;
  }

  // What a reader has seen must survive: somebody may have acted on it.
  void Observe(const std::atomic<bool>* written) {
    Random random(config_.seed);
    uint64_t newest = 0;
    std::string value;
    while (!written->load()) {
      const std::unique_ptr<Iterator> it(db()->NewIterator({}));
      for (it->Seek(histories_[0].KeyPrefix()); it->Valid(); it->Next()) {
        if (!it->key().starts_with(histories_[0].KeyPrefix())) break;
        newest = std::max(newest, History::OperationOf(it->value().ToString()) + 1);
        if (random.OneIn(20)) break;
      }
      __atomic_store_n(&oracle_->observed, newest, __ATOMIC_SEQ_CST);
      std::this_thread::yield();
    }
  }

  void Fail(const std::string& wrong) {
    const std::lock_guard<std::mutex> lock(wrong_mutex_);
    if (wrong_.empty()) wrong_ = wrong;
  }

  const DbRunConfig config_;
  const std::string name_;
  Simulator* const simulator_;
  DbOracle* const oracle_;
  const std::vector<History> histories_;
  DbHandles opened_;
  uint64_t done_ = 0;  // operations of each writer
  std::mutex wrong_mutex_;
  std::string wrong_;
};

Simulator* StartSimulator(const DbRunConfig& config, Plan plan, Report* report) {
  plan.seed = config.seed;
  plan.at_flushes = config.at_flushes;
  plan.random_images = config.random_images;
  // Before the checkers are forked: they open the pool too, and some create it anew.
  int shutdown_state = config.full_pool;
  CHECK(pmemobj_ctl_set(nullptr, "sds.at_create", &shutdown_state) == 0);
  if (!config.full_pool) LimitLanes(kLanes);
  const auto check = std::make_shared<DbCheck>(config);
  return Simulator::Start(
      plan, sizeof(DbOracle),
      [check](const std::string& directory, const void* before, const void* after) {
        return check->Check(directory, *static_cast<const DbOracle*>(before),
                            *static_cast<const DbOracle*>(after));
      },
      report);
}

}  // namespace

std::string DbDirectory(const std::string& directory) { return directory + "/db"; }

Options MakeOptions(const DbRunConfig& config) {
  Options options;
  options.failure_atomicity = config.failure_atomicity;
  options.memtable = config.memtable;
  options.merge_order = config.merge_order;
  options.merge_destination = config.merge_destination;
  options.compaction_style = config.compaction_style;
  options.max_background_jobs = config.background_jobs;
  options.max_pmem_bytes = 32 << 20;
  options.extent_bytes = 4 << 10;
  options.write_buffer_size = 16 << 10;
  options.max_write_buffer_number = 3;
  options.target_table_bytes = 16 << 10;
  options.node_bytes = 256;
  options.size_ratio = 2;
  options.num_levels = 4;
  return options;
}

Status OpenDb(const DbRunConfig& config, const Options& options, const std::string& directory,
              bool must_exist, DbHandles* opened) {
  if (!config.families) return DB::Open(options, directory, &opened->db);
  std::vector<std::string> names;
  // A DB that is being created may not have got so far.
  Status status = DB::ListColumnFamilies(options, directory, &names);
  if (!status.ok() && must_exist) return status;
  const bool there = std::find(names.begin(), names.end(), kOtherFamily) != names.end();
  if (!there && must_exist) return Status::Corruption("column families", "the second one is lost");
  if (names.empty()) names.push_back(kDefaultColumnFamilyName);
  if (!there) names.push_back(kOtherFamily);
  std::vector<ColumnFamilyDescriptor> descriptors;
  for (const std::string& name : names) descriptors.emplace_back(name, options);
  DBOptions db_options = options;
  db_options.create_missing_column_families = true;
  std::vector<ColumnFamilyHandle*> handles;
  status = DB::Open(db_options, directory, descriptors, &handles, &opened->db);
  for (ColumnFamilyHandle* handle : handles) {
    if (handle->GetName() == kOtherFamily) {
      opened->other = handle;
    } else if (handle->GetName() == kPassingFamily) {
      opened->passing = handle;
    } else {
      delete handle;
    }
  }
  return status;
}

std::vector<History> MakeHistories(const DbRunConfig& config) {
  std::vector<Chapter> chapters;
  for (const Act& act : kLife) chapters.push_back({act.style, act.operations});
  std::vector<History> histories;
  for (int i = 0; i < config.writers; ++i) histories.emplace_back(config.seed, i, chapters, config.unsynced);
  return histories;
}

std::string RunDbLife(const DbRunConfig& config, const Plan& plan, Report* report) {
  Simulator* const simulator = StartSimulator(config, plan, report);
  const std::string wrong = DbLife(config, plan, simulator).Run();
  simulator->Finish();
  return wrong;
}

std::string RunDbRecovery(const DbRunConfig& config, const Plan& plan, const std::string& kept,
                          Report* report) {
  Simulator* const simulator = StartSimulator(config, plan, report);
  auto* const oracle = static_cast<DbOracle*>(simulator->oracle());
  DbOracle after = {};
  std::ifstream(kept + kKeptOracleBefore, std::ios::binary)
      .read(reinterpret_cast<char*>(oracle), sizeof(*oracle));
  std::ifstream(kept + kKeptOracleAfter, std::ios::binary)
      .read(reinterpret_cast<char*>(&after), sizeof(after));
  for (int i = 0; i < kWritersMax; ++i) oracle->writer[i].started = after.writer[i].started;
  const std::string wrong = DbLife(config, plan, simulator).Recover();
  simulator->Finish();
  return wrong;
}

std::string DbRunConfig::ToString() const {
  std::ostringstream text;
  text << "failure_atomicity=" << static_cast<int>(failure_atomicity)
       << " memtable=" << static_cast<int>(memtable) << " merge_order=" << static_cast<int>(merge_order)
       << " merge_destination=" << static_cast<int>(merge_destination)
       << " compaction_style=" << static_cast<int>(compaction_style) << " background_jobs=" << background_jobs
       << " families=" << families << " writers=" << writers << " reader=" << reader
       << " unsynced=" << unsynced << " full_pool=" << full_pool << " seed=" << seed
       << " sparseness=" << sparseness << " random_images=" << random_images << " at_flushes=" << at_flushes;
  return text.str();
}

void DbRunConfig::Parse(const std::string& text) {
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    CHECK(equals != std::string::npos);
    const std::string name = word.substr(0, equals);
    const uint64_t value = std::stoull(word.substr(equals + 1));
    if (name == "failure_atomicity") failure_atomicity = static_cast<FailureAtomicity>(value);
    if (name == "memtable") memtable = static_cast<MemTableType>(value);
    if (name == "merge_order") merge_order = static_cast<MergeOrder>(value);
    if (name == "merge_destination") merge_destination = static_cast<MergeDestination>(value);
    if (name == "compaction_style") compaction_style = static_cast<CompactionStyle>(value);
    if (name == "background_jobs") background_jobs = static_cast<int>(value);
    if (name == "families") families = value != 0;
    if (name == "writers") writers = static_cast<int>(value);
    if (name == "reader") reader = value != 0;
    if (name == "unsynced") unsynced = value != 0;
    if (name == "full_pool") full_pool = value != 0;
    if (name == "seed") seed = value;
    if (name == "sparseness") sparseness = value;
    if (name == "random_images") random_images = static_cast<int>(value);
    if (name == "at_flushes") at_flushes = value != 0;
  }
}

}  // namespace pmlsm::crash
