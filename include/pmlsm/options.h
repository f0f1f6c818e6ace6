// Options of a DB, of a read and of a write. RocksDB's names where the meaning is RocksDB's; few knobs: what
// can be derived is derived, and the outcome is printed in <db>/LOG, <db>/OPTIONS-* and
// GetProperty("pmlsm.options").
//
// A value outside its range makes DB::Open fail with InvalidArgument that names the option and the range.
// Every enum has its name as text: ToString(value).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "pmlsm/compaction_filter.h"
#include "pmlsm/comparator.h"
#include "pmlsm/export.h"
#include "pmlsm/slice.h"
#include "pmlsm/status.h"
#include "pmlsm/types.h"

namespace pmlsm {

class Snapshot;

// How new bytes become part of the DB (Götze et al., "Data Structure Primitives on Persistent Memory", Figure
// 4). In every mode a crash leaves the old state or the new one.
enum class FailureAtomicity : uint8_t {
  kTransaction,  // "PMDK transactions": destination range and offset are in a PMDK transaction
  kIndividual,  // "Individual FA": data streamed and fenced, only the published word is in a PMDK transaction
  kAtomic,      // "No FA": data streamed and fenced, then one aligned 8-byte store
};

// Where new writes live until they move to PMem (Figure 3(a)).
enum class MemTableType : uint8_t {
  kSorted,  // ordered at every moment; flushing is a copy
  kHash,    // unordered, so cheaper to fill; sorted when it is flushed or scanned
};

// How sorted runs are merged (Figure 3(b), (c)).
enum class MergeOrder : uint8_t { k2Way, kKWay, kAuto };

// Where the merged entries are put together: straight in PMem, or in a DRAM buffer that is copied once.
enum class MergeDestination : uint8_t { kDirect, kBuffered, kAuto };

// The shape of the levels. It may change from one open to the next: background merges bring the levels into the
// new shape. (Tiered is the paper's; Dayan and Idreos, "Dostoevsky", SIGMOD 2018, compare the three.)
enum class CompactionStyle : uint8_t {
  kTiered,   // a level holds size_ratio runs; when full they merge into one run of the next: writes least
  kLeveled,  // below level 0 a level is one run, merged into the next when too large: reads and space least
  kLazyLeveled,  // tiers above one run, the deepest: about tiered's writes, about leveled's space and long scans
};

// What recovery does with a log that is damaged (RocksDB's modes of the same names).
enum class WALRecoveryMode : uint8_t {
  // Damage that later records vouch was durable is Corruption; a torn tail, left by a power cut, is dropped.
  kTolerateCorruptedTailRecords,
  // Damage of any kind is Corruption, a torn tail too.
  kAbsoluteConsistency,
  // Replay stops at the first bad record: an exact prefix of history. LOG says what was dropped.
  kPointInTimeRecovery,
};

PMLSM_EXPORT const char* ToString(FailureAtomicity value);
PMLSM_EXPORT const char* ToString(MemTableType value);
PMLSM_EXPORT const char* ToString(MergeOrder value);
PMLSM_EXPORT const char* ToString(MergeDestination value);
PMLSM_EXPORT const char* ToString(CompactionStyle value);
PMLSM_EXPORT const char* ToString(WALRecoveryMode value);

// What the DB has one of. (Options is both parts, for a DB of the default family alone.)
struct PMLSM_EXPORT DBOptions {
  // --- The DB as a whole ---

  bool create_if_missing = false;
  bool error_if_exists = false;

  // Families that Open is given and the DB does not have are created.
  bool create_missing_column_families = false;

  FailureAtomicity failure_atomicity = FailureAtomicity::kIndividual;

  WALRecoveryMode wal_recovery_mode = WALRecoveryMode::kTolerateCorruptedTailRecords;

  // --- Persistent memory ---

  // The pool's largest size, bytes; it starts small and grows by itself. 0 = 90 % of the file system's size.
  // Fixed when the DB is created; later values are ignored. Range: 0, or 16 MiB to 64 TiB.
  uint64_t max_pmem_bytes = 0;

  // "" = the pool is a set of files in the DB's directory. Otherwise the path of one pool file or device
  // (/dev/dax*) of fixed size, made beforehand or created with max_pmem_bytes; the DB's directory then holds
  // LOG, LOCK, OPTIONS.
  std::string pool_file;

  // Unit of space, bytes: a power of two, 4 KiB to 64 MiB. Fixed when the DB is created.
  size_t extent_bytes = size_t{16} << 10;

  // --- Memtables and the write-ahead log ---

  // DRAM that the memtables of all families may take together, bytes: when the active ones take half of it, the
  // largest is frozen and flushed; when all of it is taken, writers wait for flushes. A single write may go past it.
  // 0 = 64 MiB, or what the memtables of one family may take, if that is more (write_buffer_size *
  // max_write_buffer_number), and no bound for a DB of one family. In a small pool it is less: a 32nd of it.
  // Range: 0, or 64 KiB to 1 TiB.
  uint64_t db_write_buffer_size = 0;

  // DRAM for memtables and for the routing of reads, bytes. Memtables come first, and keep what the options about them
  // say even if that is more; the routing gets the rest: about 7 bytes a key, by which a Get goes straight to the entry
  // in PMem. Tables for which there is no room are read by their filters and indexes. GetProperty("pmlsm.routing-bytes")
  // tells what it takes. 0 = an eighth of the machine's memory for the routing. Range: 0, or 1 MiB to 64 TiB.
  uint64_t dram_budget_bytes = 0;

  // Log segments, bytes: past it the families that hold the oldest one are flushed, so that a family with few writes
  // does not hold the log for ever. (RocksDB: max_total_wal_size.) 0 = four times what all memtables may take.
  // Range: 0, or 64 KiB to 64 TiB.
  uint64_t max_total_wal_bytes = 0;

  // --- Background work ---

  // Threads that flush and merge. Range: 1 to 64.
  int max_background_jobs = 2;

  // kAuto: chosen for each merge, by the medium, the failure atomicity, the number of runs and the duplicates that
  // merges have met (GetProperty "pmlsm.merge-choices" tells). Each may be set by itself. Flushes write to the
  // same destination.
  MergeOrder merge_order = MergeOrder::kAuto;
  MergeDestination merge_destination = MergeDestination::kAuto;

  // InvalidArgument or NotSupported with the option's name, value and range, or OK. DB::Open calls it.
  Status Validate() const;
  // One "name=value" a line, as in <db>/OPTIONS-*.
  std::string ToString() const;
};

// What each column family has of its own.
struct PMLSM_EXPORT ColumnFamilyOptions {
  // Order of the keys. Its name is stored; opening with another is InvalidArgument. Must outlive the DB.
  const Comparator* comparator = BytewiseComparator();

  // --- Memtables ---

  MemTableType memtable = MemTableType::kSorted;

  // A memtable is flushed when it holds this many bytes of DRAM. Range: 16 KiB to 4 GiB.
  size_t write_buffer_size = size_t{16} << 20;

  // Memtables, the active one included; a writer waits when all are full. Range: 2 to 64.
  int max_write_buffer_number = 4;

  // --- Tables and levels ---

  CompactionStyle compaction_style = CompactionStyle::kTiered;

  // How much larger a level is than the one above it. Where a level holds several runs (tiered: all; lazy-leveled:
  // all but the deepest in use; leveled: level 0), it is merged into the next when it has this many. Where it holds
  // one, it is merged when it has more than write_buffer_size * size_ratio^(level + 1) bytes. Range: 2 to 32.
  int size_ratio = 8;

  // Levels there may be; a DB uses as many as its size asks for. The last one has no bound: its runs merge within
  // it. A DB that has used more keeps them. Range: 1 to 16.
  int num_levels = 7;

  // A table's size in PMem, bytes, at most: tables are smaller where merges have to go in smaller steps (a value
  // larger than a table has one of its own). Range: 16 KiB to 1 GiB.
  size_t target_table_bytes = size_t{16} << 20;

  // A data node's target size, bytes; the paper finds 256 B to 1 KiB best. Range: 256 to 32 KiB.
  size_t node_bytes = 1024;

  // Bloom filter bits a key; about 1 % false positives at 10. 0 = no filter. Range: 0 to 32.
  int filter_bits_per_key = 10;

  // --- Merges ---

  // Drops or changes values while runs are merged; not owned, must outlive the DB. nullptr = none.
  const CompactionFilter* compaction_filter = nullptr;

  // When nothing was written for about a second and no merge is due, all runs are merged if the entries that newer
  // ones hide take more than this share of the space of all others, percent (by a sample of keys). RocksDB's
  // universal compaction has an option of this name, which merges at once, and counts all but the oldest run as
  // hidden. Range: 10 to 4294967295 (never).
  uint32_t max_size_amplification_percent = 100;

  // Merges run only when asked for (CompactRange), or when level 0 has 256 runs.
  bool disable_auto_compactions = false;

  // As in DBOptions.
  Status Validate() const;
  std::string ToString() const;
};

struct PMLSM_EXPORT Options : DBOptions, ColumnFamilyOptions {
  Options() = default;
  Options(const DBOptions& db_options, const ColumnFamilyOptions& family_options)
      : DBOptions(db_options), ColumnFamilyOptions(family_options) {}

  // Of both parts.
  Status Validate() const;
  std::string ToString() const;
};

struct ReadOptions {
  // Read this state instead of the newest one.
  const Snapshot* snapshot = nullptr;

  // Check what is read: a flipped bit on the medium is then Corruption, never a wrong value or a false
  // NotFound.
  bool verify_checksums = true;

  // Iterators: keys in [lower, upper) only; nullptr = open end. The bytes are copied when the iterator is
  // made.
  const Slice* iterate_lower_bound = nullptr;
  const Slice* iterate_upper_bound = nullptr;
};

struct WriteOptions {
  // true: when the call returns, the write survives a power cut (one record stream and one fence, no system
  // call on PMem). false: it survives a killed process, and is durable at the latest with the next sync
  // write. RocksDB's default is false.
  bool sync = true;

  // No log: the write survives only once its memtable is flushed (Flush, Close, or in the background). Not
  // with sync set by hand; with disableWAL, sync is ignored.
  bool disableWAL = false;
};

struct FlushOptions {
  // Wait until the data is in a table.
  bool wait = true;
};

struct CompactRangeOptions {
  // true: no other merge runs beside it; they wait for it, and it for them. Flushes go on, so writers wait only if
  // level 0 runs out of slots (2 * size_ratio runs) meanwhile. false: once it has started, others run, too, and
  // those of upper levels go between its steps; it may take longer.
  bool exclusive_manual_compaction = true;
};

}  // namespace pmlsm
