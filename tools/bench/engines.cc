// The list of engines.
#include "tools/bench/engine.h"
#include "tools/bench/floor_engine.h"
#include "tools/bench/leveldb_engine.h"
#include "tools/bench/lmdb_engine.h"
#include "tools/bench/pmlsm_engine.h"
#include "tools/bench/rocksdb_engine.h"

namespace pmlsm::bench {
namespace {

enum class Log : uint8_t { kAsAsked, kAlways, kNever };

struct Row {
  const char* name;
  std::unique_ptr<Engine> (*make)(const EngineOptions& options);
  Log log;
};
constexpr Row kEngines[] = {
    {"pmlsm", NewPmlsmEngine, Log::kAsAsked},
    {"rocksdb", NewRocksdbEngine, Log::kAsAsked},
    {"rocksdb-sync", NewRocksdbEngine, Log::kAlways},
    {"rocksdb-nowal", NewRocksdbEngine, Log::kNever},
    {"rocksdb-mmap", NewRocksdbMmapEngine, Log::kNever},
    {"rocksdb-mmap-hash", NewRocksdbMmapHashEngine, Log::kNever},
    {"rocksdb-cuckoo", NewRocksdbCuckooEngine, Log::kNever},
    {"leveldb", NewLeveldbEngine, Log::kAlways},
    {"leveldb-sync", NewLeveldbEngine, Log::kAlways},
    {"lmdb", NewLmdbEngine, Log::kAlways},
    {"floor", NewFloorEngine, Log::kAlways},
};

const Row* Find(const std::string& name) {
  for (const Row& row : kEngines)
    if (name == row.name) return &row;
  return nullptr;
}

}  // namespace

Status ApplyEngineName(const std::string& name, EngineOptions* options) {
  const Log log = Find(name)->log;
  if (log == Log::kAlways && options->disable_wal)
    return Status::InvalidArgument("--disable_wal = true", "engine " + name + " always writes its log");
  if (log == Log::kNever) {
    options->disable_wal = true;
    options->sync = false;
  }
  return Status::OK();
}

std::unique_ptr<Engine> NewEngine(const std::string& name, const EngineOptions& options) {
  const Row* const row = Find(name);
  return row == nullptr ? nullptr : row->make(options);
}

std::string EngineNames() {
  std::string names;
  for (const Row& row : kEngines) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

}  // namespace pmlsm::bench
