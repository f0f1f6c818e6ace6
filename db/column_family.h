// ColumnFamily: what each column family of a DB has of its own: options, memtables, runs, the state of its merges,
// and the views that its readers take. DBImpl does the work on it.
//
// Thread safety: none of its own. What changes belongs to the locks of DBImpl as its comments say; readers use
// `reads`, which takes no lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compaction/merge_choice.h"
#include "compaction/picker.h"
#include "db/compaction_stats.h"
#include "db/derived_sizes.h"
#include "db/storage.h"
#include "levels/manifest.h"
#include "levels/version.h"
#include "memtable/memtable.h"
#include "pmlsm/options.h"

namespace pmlsm {

struct ColumnFamily {
  ColumnFamily(uint32_t id, const std::string& name, const ColumnFamilyOptions& options,
               const DerivedSizes& sizes, const MergeChooser::Setting& setting, FamilyReads* reads);

  // --- Constant ---
  const uint32_t id;
  const std::string name;
  const ColumnFamilyOptions options;
  const DerivedSizes sizes;
  const std::string log_prefix;  // of lines in LOG

  // Null once the DB is closed. Lives in Storage, which readers may need for longer than the family.
  FamilyReads* reads;

  // --- write_mutex_ ---
  MemTableRep* active_rep = nullptr;

  // --- mutex_ ---
  VersionRef version;
  MemTableRef active;
  std::vector<MemTableRef> frozen;  // newest first
  Picker picker;
  MergeChooser merge_chooser;
  CompactionStats compaction_stats;
  int merges_paused = 0;                        // CompactRanges that no merge may start beside
  uint64_t run_changes = 0;                     // flushes and merges since Open
  uint64_t tombstones_left = 0;                 // in dense tables, by the last merge of such
  SequenceNumber tombstone_merge_snapshot = 0;  // the oldest then
  uint64_t idle_look_changes = 0;               // run_changes at the last one
  SequenceNumber idle_look_snapshot = 0;        // the oldest then
  SequenceNumber space_merge_sequence = 0;      // last_sequence_ when a merge for space was last tried

  // The functions below want mutex_.

  // A new active memtable whose log begins with that segment; also the write lock.
  void StartMemTable(uint64_t first_segment);
  // The active one becomes the newest frozen one; StartMemTable follows. `last`: the newest sequence number.
  void FreezeMemTable(SequenceNumber last);
  // The log segments before it hold nothing that is not in runs.
  uint64_t OldestSegment() const;
  // Memtables and runs as they are now, for readers.
  void InstallView() { reads->views.Install(active, frozen, version); }
  // The level array of that version, for the manifest.
  void StoreLevels(const Version& of, FamilyState* state) const;
  // Gives up memtables and runs; who still reads keeps what it needs.
  void Close();

  uint64_t MemTableEntries() const;
  uint64_t FrozenBytes() const;
};
using ColumnFamilyRef = std::shared_ptr<ColumnFamily>;

}  // namespace pmlsm
