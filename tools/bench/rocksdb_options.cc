#include "tools/bench/rocksdb_options.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include <memory>

namespace pmlsm::bench {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

std::string BitsText(int bits) { return std::to_string(bits) + " bits a key"; }

rocksdb::BlockBasedTableOptions BlockOptions(int bloom_bits) {
  rocksdb::BlockBasedTableOptions blocks;
  if (bloom_bits > 0) blocks.filter_policy.reset(rocksdb::NewBloomFilterPolicy(bloom_bits));
  // A hash index in each data block spares a point read its search there.
  blocks.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  return blocks;
}

// Reads through a block cache: what a user gets who tunes nothing but the cache. It may take as much memory as
// the rules of the comparison give, a quarter of the data, less the memtables.
void UseBlocks(const EngineOptions& common, int bloom_bits, RocksdbSettings* settings) {
  const size_t quarter = common.DataBytes() / 4;
  const size_t cache_bytes = quarter > 72 * kMiB ? quarter - 64 * kMiB : 8 * kMiB;
  rocksdb::BlockBasedTableOptions blocks = BlockOptions(bloom_bits);
  blocks.block_cache = rocksdb::NewLRUCache(cache_bytes);
  settings->options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(blocks));
  settings->text.emplace_back("Tables", "blocks of " + std::to_string(blocks.block_size) +
                                            " bytes, each with a hash index; block cache of " +
                                            std::to_string(cache_bytes) + " bytes");
  settings->text.emplace_back("Filter", BitsText(bloom_bits));
}

// A filter over the memtable spares point reads its search in most cases; writes pay a little for it.
void FilterMemtable(RocksdbSettings* settings) {
  settings->options.memtable_whole_key_filtering = true;
  settings->options.memtable_prefix_bloom_size_ratio = 0.1;
  settings->text.emplace_back("Memtable filter", "whole keys, a tenth of the memtable");
}

// Blocks are read where they are mapped. The best of RocksDB's that can do everything, scans above all.
void UseMappedBlocks(int bloom_bits, RocksdbSettings* settings) {
  rocksdb::BlockBasedTableOptions blocks = BlockOptions(bloom_bits);
  blocks.no_block_cache = true;
  // Each read checks a whole block, so that smaller ones cost less; without a cache nothing speaks for larger ones.
  blocks.block_size = 1024;
  settings->options.allow_mmap_reads = true;
  settings->options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(blocks));
  settings->text.emplace_back("Tables", "mapped (allow_mmap_reads), no block cache; blocks of " +
                                            std::to_string(blocks.block_size) +
                                            " bytes, each with a hash index");
  settings->text.emplace_back("Filter", BitsText(bloom_bits));
}

// Plain tables, with a hash index and a filter on the whole key: no order, so no scans. The best for misses.
void UsePlain(int bloom_bits, RocksdbSettings* settings) {
  rocksdb::PlainTableOptions plain;
  plain.bloom_bits_per_key = bloom_bits;
  settings->options.allow_mmap_reads = true;
  settings->options.prefix_extractor.reset(rocksdb::NewNoopTransform());
  settings->options.table_factory.reset(rocksdb::NewPlainTableFactory(plain));
  settings->ordered = false;
  settings->text.emplace_back("Tables", "plain, mapped (allow_mmap_reads); hash index over whole keys");
  settings->text.emplace_back("Filter", BitsText(bloom_bits));
}

// One or two places where a key can be. Scans sort a whole table for each iterator, so there are none. The
// best for hits.
void UseCuckoo(RocksdbSettings* settings) {
  rocksdb::CuckooTableOptions cuckoo;
  settings->options.allow_mmap_reads = true;
  settings->options.table_factory.reset(rocksdb::NewCuckooTableFactory(cuckoo));
  settings->ordered = false;
  settings->text.emplace_back("Tables", "cuckoo, mapped (allow_mmap_reads)");
}

}  // namespace

RocksdbSettings MakeRocksdbSettings(const EngineOptions& common, RocksdbTables tables) {
  RocksdbSettings settings;
  rocksdb::Options& options = settings.options;
  options.create_if_missing = true;
  // Its default of two memtables of 64 MiB stays, twice what pmlsm may have: smaller ones cost it merges.
  if (common.write_buffer_size != 0) options.write_buffer_size = common.write_buffer_size;
  if (common.max_write_buffer_number != 0) options.max_write_buffer_number = common.max_write_buffer_number;
  if (common.max_background_jobs != 0) options.max_background_jobs = common.max_background_jobs;
  // The data lie in memory already, and compressing them costs more than it saves there.
  options.compression = rocksdb::kNoCompression;
  // All tables stay open, so that a read looks none up.
  options.max_open_files = -1;
  // No work beside what is measured; a faster open.
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.skip_stats_update_on_db_open = true;
  settings.text.emplace_back("Memtable", std::to_string(options.write_buffer_size) + " bytes, at most " +
                                             std::to_string(options.max_write_buffer_number));
  if (tables != RocksdbTables::kBlocks) FilterMemtable(&settings);
  const int bloom_bits = common.bloom_bits >= 0 ? common.bloom_bits : 10;
  switch (tables) {
    case RocksdbTables::kBlocks:
      UseBlocks(common, bloom_bits, &settings);
      break;
    case RocksdbTables::kMappedBlocks:
      UseMappedBlocks(bloom_bits, &settings);
      break;
    case RocksdbTables::kPlain:
      UsePlain(bloom_bits, &settings);
      break;
    case RocksdbTables::kCuckoo:
      UseCuckoo(&settings);
      break;
  }
  settings.text.emplace_back("Compression", "none");
  settings.text.emplace_back("Open files", "all tables");
  settings.text.emplace_back("Background",
                             std::to_string(options.max_background_jobs) + " jobs; no statistics");
  return settings;
}

}  // namespace pmlsm::bench
