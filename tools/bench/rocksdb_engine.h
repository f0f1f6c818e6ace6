// The adapter of RocksDB, with the settings that are best for writes and those that are best for reads. Nobody
// has the best of every column at once: rocksdb_options.cc says what each is for.
#pragma once

#include <memory>

#include "tools/bench/engine.h"

namespace pmlsm::bench {

std::unique_ptr<Engine> NewRocksdbEngine(const EngineOptions& options);
std::unique_ptr<Engine> NewRocksdbMmapEngine(const EngineOptions& options);
std::unique_ptr<Engine> NewRocksdbMmapHashEngine(const EngineOptions& options);
std::unique_ptr<Engine> NewRocksdbCuckooEngine(const EngineOptions& options);

}  // namespace pmlsm::bench
