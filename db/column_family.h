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

struct ColumnFamily : std::enable_shared_from_this<ColumnFamily> {
  ColumnFamily(uint32_t id, const std::string& name, const ColumnFamilyOptions& options,
               const DerivedSizes& sizes, const MergeChooser::Setting& setting, FamilyReads* reads);

  // --- Constant ---
  const uint32_t id;
  const std::string name;
  const ColumnFamilyOptions options;
  const DerivedSizes sizes;
  const std::string log_prefix;  // of lines in LOG

  // Null once the DB is closed, or the family was dropped and its last handle is gone. Lives in Storage, which readers
  // may need for longer than the family.
  FamilyReads* reads;

  // --- write_mutex_ ---
  MemTableRep* active_rep = nullptr;
  uint64_t memtable_limit =
      0;  // bytes of the active one from which on it wants a look (db_memtables.cc); also mutex_

  // --- Written with both, read with either; also by jobs ---
  std::atomic<bool> dropped{false};

  // --- mutex_ ---
  VersionRef version;
  MemTableRef active;
  std::vector<MemTableRef> frozen;  // newest first
  Picker picker;
  MergeChooser merge_chooser;
  CompactionStats compaction_stats;
  int handles = 0;
  int merges_paused = 0;                        // CompactRanges that no merge may start beside
  uint64_t run_changes = 0;                     // flushes and merges since Open
  uint64_t tombstones_left = 0;                 // in dense tables, by the last merge of such
  SequenceNumber tombstone_merge_snapshot = 0;  // the oldest then
  uint64_t idle_look_changes = 0;               // run_changes at the last one
  SequenceNumber idle_look_snapshot = 0;        // the oldest then
  SequenceNumber space_merge_sequence = 0;      // last_sequence_ when a merge for space was last tried

  // The functions below want mutex_, or the write lock where they look at the active memtable alone.

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

  // Whether one more memtable may be frozen.
  bool HasMemTableRoom() const {
    return frozen.size() + 1 < static_cast<size_t>(options.max_write_buffer_number);
  }
  // What the level array takes in the manifest, if level 0 has that many runs.
  uint64_t SlotBytes(size_t level0_runs) const;

  uint64_t ActiveBytes() const { return active_rep->ApproximateBytes(); }
  // Whether the active memtable is at its limit, or scans want it flushed. On each write.
  bool NeedsLook() const { return ActiveBytes() >= memtable_limit || reads->scans.HasWish(); }
  uint64_t MemTableEntries() const;
  uint64_t FrozenBytes() const;
};
using ColumnFamilyRef = std::shared_ptr<ColumnFamily>;

}  // namespace pmlsm
