// RocksDB's settings in the comparison.
#pragma once

#include <rocksdb/options.h>

#include <string>
#include <utility>
#include <vector>

#include "tools/bench/engine.h"

namespace pmlsm::bench {

enum class RocksdbTables : uint8_t { kBlocks, kMappedBlocks, kPlain, kCuckoo };

struct RocksdbSettings {
  rocksdb::Options options;
  // All of the above that is not RocksDB's default, for the report's header.
  std::vector<std::pair<std::string, std::string>> text;
  // Whether the tables can be scanned in key order.
  bool ordered = true;
};

RocksdbSettings MakeRocksdbSettings(const EngineOptions& common, RocksdbTables tables);

}  // namespace pmlsm::bench
