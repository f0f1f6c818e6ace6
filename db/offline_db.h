// OfflineDB: what a DB consists of, found in its pool's bytes by as few steps as can be, each of which may fail
// without hiding the rest. In order: 1. Pool header and group directory. 2. The manifest in force; if it is
// damaged, the other one. 3. Run descriptors. 4. Table headers. A table whose header is damaged is still
// listed: TableScan reads it without one.
//
// Thread safety: one thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/offline.h"
#include "db/wal_reader.h"
#include "levels/manifest.h"
#include "levels/run_format.h"
#include "levels/table.h"
#include "levels/table_scan.h"
#include "pmem/files.h"
#include "pmem/raw_pool.h"
#include "pmem/raw_root.h"

namespace pmlsm {

struct OfflineTable {
  std::string name;
  uint32_t family = 0;
  const Comparator* comparator = nullptr;
  TableReference reference;
  bool has_live_lower = false;  // keys below it do not count
  std::string live_lower;
  std::unique_ptr<Table> table;  // null if its header is damaged
};

struct OfflineFamily {
  uint32_t id = 0;
  std::string name;
  const Comparator* comparator = nullptr;
};

// An entry of the log, and whose it is.
struct LoggedEntry {
  uint32_t family = 0;
  Entry entry;
};

class OfflineDB {
 public:
  // Takes the locks, and puts damage and notes into *report, which outlives it.
  static Status Open(const Options& options, const std::string& name, OfflineReport* report,
                     std::unique_ptr<OfflineDB>* db);

  // The default one first; it alone if there is no manifest.
  const std::vector<OfflineFamily>& families() const { return families_; }
  const RawRoot& root() const { return root_; }
  bool has_manifest() const { return has_manifest_; }
  const std::vector<OfflineTable>& tables() const { return tables_; }

  // Adds to tables() those that verify by their headers, but that no run descriptor names. A table does not tell its
  // family: they count as the default one's.
  void AddUnnamedTables();
  // Every entry that verifies and counts; damage into the report, but for what lies wholly below live_lower if
  // `live_only`.
  std::unique_ptr<TableScan> Scan(const OfflineTable& table) const;
  void ReportLost(const OfflineTable& table, const TableScan& scan, bool live_only);
  // The batch of every record of the log that verifies and is not flushed, whole or not at all; damage into the
  // report. The entries' bytes live as long as the call.
  void ReadLog(const std::function<void(const std::vector<LoggedEntry>& batch)>& visit);

  // Where a log position lies in the pool; 0 if nowhere.
  uint64_t LogOffset(uint64_t position) const;

  // `offset` in the pool.
  DamagedPiece* AddDamage(const std::string& structure, uint64_t offset, const std::string& what,
                          bool loses_data);
  // What of the pool's files could not be read: at the end, when all has been tried.
  void ReportLostBytes();
  // Spans that lie outside the groups, or are reached twice.
  void CheckSpans();

 private:
  // What a manifest leads to.
  struct State {
    ManifestState manifest;
    std::vector<OfflineFamily> families;
    std::vector<OfflineTable> tables;
    std::vector<std::pair<std::string, Span>> spans;
    std::vector<DamagedPiece> damages;
  };

  OfflineDB() = default;
  Status Lock(const std::string& name);
  void FindManifests();
  Status ChooseManifest(const Options& options);
  std::optional<RawPool::Lost> UnreadLogEnd(const WalReader& reader) const;
  Status ParseBatch(const WalReader::Record& record, std::vector<LoggedEntry>* batch) const;
  bool NothingPublished() const;
  void ReportTwins(const ManifestState& chosen);
  void CheckOtherTwin(const ManifestState& chosen);
  static Status FindFamilies(const Options& options, const ManifestState& manifest,
                             std::vector<OfflineFamily>* families);
  void LoadRuns(State* state) const;
  void LoadRun(const OfflineFamily& family, uint64_t level, uint64_t offset, State* state) const;
  void LoadTable(const std::string& run, uint64_t descriptor, const TableReference& reference, State* state,
                 OfflineTable* table) const;
  DamagedPiece Piece(const std::string& structure, uint64_t offset, const std::string& what,
                     bool loses_data) const;

  FileLock lock_;
  std::unique_ptr<RawPool> pool_;
  OfflineReport* report_ = nullptr;
  RawRoot root_;
  uint64_t word_ = 0;     // that names the generation in force
  uint64_t current_ = 0;  // that generation; 0 if the word is damaged
  struct Twin {
    uint64_t offset = 0;
    Status status;  // OK: `state` is what was published there
    ManifestState state;
  };
  std::vector<Twin> twins_;
  bool has_manifest_ = false;
  ManifestState manifest_;
  std::vector<OfflineFamily> families_;
  std::vector<OfflineTable> tables_;
  std::vector<std::pair<std::string, Span>> spans_;
};

}  // namespace pmlsm
