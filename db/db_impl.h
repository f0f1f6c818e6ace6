// DBImpl: the DB; what each column family has of its own is in column_family.h. Its parts in reading order: db_write.cc
// (put path), db_memtables.cc (switches, what memtables and log may take), db_read.cc (get path, iterators, snapshots),
// db_multi_get.cc, db_background.cc (background threads, publishing), db_flush.cc, db_merge.cc, db_compact_range.cc,
// db_manual.cc (Flush, WaitForCompact, pauses), db_tombstones.cc, db_idle_merge.cc, db_space.cc, db_pacing.cc,
// db_open.cc, db_open_families.cc, db_recovery.cc (the log), db_column_families.cc, db_close.cc, db_properties.cc,
// db_stats.cc.
//
// Locks, in the order in which they are taken:
//   write_mutex_  one writer at a time: the log, inserts into active memtables, memtable switches.
//   mutex_        the DB's state: versions, frozen memtables, manifest, snapshots, scheduling. Publishing happens under
//                 it, jobs run outside it.
// Readers take neither (read_view.h), but for snapshots and views of several families.
//
// Numbered invariants: 1. A record is in the log (and fenced, if sync) before its sequence number is <=
// last_sequence_.
// 2. A log segment leaves the manifest no earlier than with the run that makes it needless, of all families. 3. What
// a published manifest names is never written to; what none names may be reused once no view holds it.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "compaction/flush_job.h"
#include "compaction/merge_job.h"
#include "compaction/run_cut.h"
#include "db/column_family.h"
#include "db/derived_sizes.h"
#include "db/info_log.h"
#include "db/media_stats.h"
#include "db/snapshot_list.h"
#include "db/storage.h"
#include "db/wal_writer.h"
#include "db/write_pacer.h"
#include "db/write_room.h"
#include "db/write_stats.h"
#include "levels/manifest.h"
#include "pmem/publish.h"
#include "pmlsm/db.h"
#include "util/mutex.h"

namespace pmlsm {

class ColumnFamilyHandleImpl;

// What a write takes.
struct WriteNeeds {
  explicit WriteNeeds(ColumnFamily* family) : family(family) {}

  ColumnFamily* family;  // that it writes to
  const std::vector<ColumnFamily*>* families =
      nullptr;  // of a batch for several: each once, `family` the first
  uint64_t payload_bytes = 0;
  uint64_t largest_value_bytes = 0;
  bool uses_log = true;
  bool only_deletes = false;
};

// InvalidArgument that names the family and what is wrong with its name or options.
Status CheckFamilyDescriptor(const ColumnFamilyDescriptor& family);

class DBImpl final : public DB {
 public:
  static Status Open(const DBOptions& options, const std::string& name,
                     const std::vector<ColumnFamilyDescriptor>& families, std::unique_ptr<DBImpl>* db);
  ~DBImpl() override;

  Status Close() override;
  Status CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                            ColumnFamilyHandle** handle) override;
  Status DropColumnFamily(ColumnFamilyHandle* handle) override;
  Status DestroyColumnFamilyHandle(ColumnFamilyHandle* handle) override;
  ColumnFamilyHandle* DefaultColumnFamily() const override { return default_handle_.get(); }
  Status Put(const WriteOptions& options, const Slice& key, const Slice& value) override;
  Status Put(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key,
             const Slice& value) override;
  Status Delete(const WriteOptions& options, const Slice& key) override;
  Status Delete(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key) override;
  Status SingleDelete(const WriteOptions& options, const Slice& key) override;
  Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* handle, const Slice& key) override;
  Status Write(const WriteOptions& options, WriteBatch* batch) override;
  Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) override;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
             PinnableSlice* value) override;
  Status Get(const ReadOptions& options, const Slice& key, std::string* value) override;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* handle, const Slice& key,
             std::string* value) override;
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values) override;
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& handles,
                               const std::vector<Slice>& keys, std::vector<std::string>* values) override;
  Iterator* NewIterator(const ReadOptions& options) override;
  Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* handle) override;
  Status NewIterators(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& handles,
                      std::vector<Iterator*>* iterators) override;
  const Snapshot* GetSnapshot() override;
  void ReleaseSnapshot(const Snapshot* snapshot) override;
  Status Flush(const FlushOptions& options) override;
  Status Flush(const FlushOptions& options, ColumnFamilyHandle* handle) override;
  Status Flush(const FlushOptions& options, const std::vector<ColumnFamilyHandle*>& handles) override;
  Status CompactRange(const CompactRangeOptions& options, const Slice* begin, const Slice* end) override;
  Status CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* handle, const Slice* begin,
                      const Slice* end) override;
  Status WaitForCompact() override;
  Status PauseBackgroundWork() override;
  Status ContinueBackgroundWork() override;
  bool GetProperty(const Slice& property, std::string* value) override;
  bool GetProperty(ColumnFamilyHandle* handle, const Slice& property, std::string* value) override;
  bool GetIntProperty(const Slice& property, uint64_t* value) override;
  bool GetIntProperty(ColumnFamilyHandle* handle, const Slice& property, uint64_t* value) override;
  bool GetAggregatedIntProperty(const Slice& property, uint64_t* value) override;
  const std::string& GetName() const override { return name_; }
  SequenceNumber GetLatestSequenceNumber() const override {
    return last_sequence_.load(std::memory_order_acquire);
  }

  // --- For DB::Open and handles ---
  std::vector<ColumnFamilyHandle*> NewHandles(const std::vector<ColumnFamilyDescriptor>& families);
  void NoteHandleGone(ColumnFamilyHandleImpl* handle);

 private:
  // How often a thread looks again at what no signal announces: views let go by readers, space that came back.
  static constexpr std::chrono::milliseconds kHousekeepingPause{20};
  static constexpr std::chrono::milliseconds kHousekeepingPauseMax{1000};
  static constexpr std::chrono::milliseconds kIdlePause{
      1000};                             // without a write, before the DB counts as idle
  static constexpr int kLevelsMax = 16;  // Options::num_levels
  static constexpr size_t kSpareSegments = 2;

  DBImpl(const DBOptions& options, const std::string& name,
         const std::vector<ColumnFamilyDescriptor>& families);

  // --- db_column_families.cc ---
  ColumnFamilyRef MakeFamily(uint32_t id, const ColumnFamilyDescriptor& descriptor) REQUIRES(mutex_);
  static FamilyState MakeFamilyState(const ColumnFamily& family);
  void UpdateSharedSizes() REQUIRES(mutex_);
  ColumnFamilyHandle* NewHandle(const ColumnFamilyRef& family) REQUIRES(mutex_);
  Status FamilyOf(const ColumnFamilyHandle* handle, ColumnFamily** family) const;
  static Status DroppedError(const ColumnFamily& family);
  ColumnFamily* FindLive(uint32_t id) const REQUIRES(write_mutex_);
  Status CheckManifestRoom() const REQUIRES(mutex_);
  Status AddFamily(const ColumnFamilyDescriptor& descriptor, ColumnFamilyRef* added)
      REQUIRES(write_mutex_, mutex_);
  void OrphanHandles();

  // --- db_open.cc ---
  Status OpenStorage();
  Status LoadState();
  Status StartFirstSegment();
  std::string OptionsText(const ColumnFamily& family) const REQUIRES(mutex_);
  std::string AllOptionsText() const REQUIRES(mutex_);
  Status WriteInfoFiles();
  void StartBackground();

  // --- db_open_families.cc ---
  static Status CheckDescriptors(const std::vector<ColumnFamilyDescriptor>& families);
  static Status MissingFamilyError(const std::vector<ColumnFamilyDescriptor>& families);
  Status PublishFirstState() REQUIRES(mutex_);
  Status LoadFamilies() REQUIRES(mutex_);
  std::vector<ColumnFamilyDescriptor> MissingFamilies() const REQUIRES(mutex_);
  Status LoadFamily(const FamilyState& stored, ColumnFamily* family) REQUIRES(mutex_);
  Status CheckComparator(const std::string& stored, const ColumnFamily& family) const;
  Status CreateMissingFamilies();

  // --- db_recovery.cc ---
  Status ReplayLog();
  void KeepSegments(uint64_t first, uint64_t last) REQUIRES(mutex_);
  Status ReplayRecord(uint64_t segment, SequenceNumber first_sequence, Slice records, bool* applies)
      REQUIRES(write_mutex_, mutex_);
  Status CheckFamiliesEndWithLog(SequenceNumber replayed_to, const std::string& where) const REQUIRES(mutex_);

  // --- db_close.cc ---
  Status CloseImpl(bool despite_pins);
  void EndMerges();
  Status FlushForClose();
  void StopBackground();
  Status PublishCleanEnd() REQUIRES(write_mutex_, mutex_);

  // --- db_write.cc ---
  Status WriteOne(const WriteOptions& options, ColumnFamily* family, ValueType type, const Slice& key,
                  const Slice& value);
  Status PrepareWrite(const WriteNeeds& needs) REQUIRES(write_mutex_);
  Status TryPrepareWrite(const WriteNeeds& needs) REQUIRES(write_mutex_);
  bool HasRoomForLarge(const WriteNeeds& needs, ExtentAllocator::Use use) const;
  static bool AnyNeedsLook(const WriteNeeds& needs);
  Status FinishWrite(SequenceNumber last, bool needs_fence) REQUIRES(write_mutex_);
  void CountWrite(uint64_t user_bytes, bool logged) REQUIRES(write_mutex_);
  void InsertBatch(Slice records, SequenceNumber first) REQUIRES(write_mutex_);
  Status SwitchSegment(uint64_t payload_bytes, ExtentAllocator::Use use) REQUIRES(write_mutex_, mutex_);
  Status AllocateSegments(uint64_t payload_bytes, ExtentAllocator::Use use, std::vector<Span>* spans)
      REQUIRES(mutex_);
  Status AllocatePieces(uint64_t record_bytes, ExtentAllocator::Use use, std::vector<Span>* spans)
      REQUIRES(mutex_);
  Status StartSegment(Span span) REQUIRES(write_mutex_, mutex_);
  Status LogBatch(Slice records, SequenceNumber first, uint32_t count, bool sync) REQUIRES(write_mutex_);

  // --- db_memtables.cc ---
  Status MakeMemTableRoom(const WriteNeeds& needs, uint64_t payload_bytes, ExtentAllocator::Use use)
      REQUIRES(write_mutex_);
  Status SwitchMemTables(const std::vector<ColumnFamily*>& families, uint64_t payload_bytes,
                         ExtentAllocator::Use use) REQUIRES(write_mutex_, mutex_);
  void Freeze(const std::vector<ColumnFamily*>& families) REQUIRES(write_mutex_, mutex_);
  Status WaitForMemTableRoom(const ColumnFamily& family) REQUIRES(write_mutex_, mutex_);
  Status WaitForFlushes(const std::function<bool()>& room) REQUIRES(mutex_);
  uint64_t FirstLimit(const ColumnFamily& family) const REQUIRES(mutex_);
  uint64_t ClaimedBytes() const REQUIRES(write_mutex_, mutex_);
  ColumnFamily* FamilyToFreeze() const REQUIRES(write_mutex_, mutex_);
  Status WaitForBudget(size_t steps) REQUIRES(write_mutex_, mutex_);
  void RaiseLimit(ColumnFamily* family) REQUIRES(write_mutex_, mutex_);
  void LetGoOfOldLog() REQUIRES(write_mutex_, mutex_);

  // --- db_read.cc ---
  Status GetFrom(const ColumnFamily& family, const ReadOptions& options, const Slice& key,
                 PinnableSlice* value) const;
  static ViewPin PinOf(const ColumnFamily& family);
  Status PinTogether(const std::vector<ColumnFamily*>& families, const ReadOptions& options,
                     std::vector<ViewPin>* pins, SequenceNumber* sequence);
  Iterator* NewIteratorOf(const ColumnFamily& family, const ReadOptions& options) const;
  Iterator* NewFamilyIterator(const ColumnFamily& family, const ReadOptions& options, ViewPin pin,
                              SequenceNumber sequence) const;
  Status FindNewest(const ReadView& view, const Slice& key, SequenceNumber snapshot, bool verify,
                    Entry* entry, bool* found) const;
  SequenceNumber ReadSequence(const ReadOptions& options) const;

  // --- db_multi_get.cc ---
  std::vector<Status> MultiGetFrom(const ReadOptions& options, const std::vector<ColumnFamily*>& family_of,
                                   const std::vector<Slice>& keys, std::vector<Status> statuses,
                                   std::vector<std::string>* values);

  // --- db_background.cc ---
  void BackgroundThread(int index);
  JobContext MakeJobContext(ColumnFamily* family) REQUIRES(mutex_);
  static FamilyState* FindFamily(ManifestState* state, uint32_t id);
  Status PublishVersion(ColumnFamily* family, const VersionRef& version, ManifestState* state)
      REQUIRES(mutex_);
  Status PublishState(ManifestState* state) REQUIRES(mutex_);
  void InstallView(ColumnFamily* family) REQUIRES(mutex_);
  void NoteBackgroundError(const char* what, const Status& error) REQUIRES(mutex_);
  bool AnyMergesPaused() const REQUIRES(mutex_);
  bool BackgroundIdle() const REQUIRES(mutex_);

  // --- db_flush.cc ---
  bool HasRunSlot(const ColumnFamily& family) const REQUIRES(mutex_);
  ColumnFamily* FamilyToFlush() const REQUIRES(mutex_);
  bool FlushWaitsForSlot() const REQUIRES(mutex_);
  bool AnyFrozen() const REQUIRES(mutex_);
  void FlushFrozen(ColumnFamily* family) REQUIRES(mutex_);
  Status InstallFlush(ColumnFamily* family, const FlushJob& job, const PlacedRun& flushed) REQUIRES(mutex_);
  void DiscardFlush(const PlacedRun& flushed);
  std::vector<SegmentRecord> RetireSegments(ManifestState* state) const REQUIRES(mutex_);
  void FreeSegment(const SegmentRecord& segment) REQUIRES(mutex_);

  // --- db_merge.cc ---
  struct DueMerge {
    ColumnFamily* family;
    MergePick pick;
  };
  bool MergeIfDue() REQUIRES(mutex_);
  std::optional<DueMerge> PickDueMerge() const REQUIRES(mutex_);
  std::optional<DueMerge> PickForSpace() REQUIRES(mutex_);
  Status MergeRuns(ColumnFamily* family, MergePick pick) REQUIRES(mutex_);
  Status BeginStep(const ColumnFamily& family) REQUIRES(mutex_);
  Status LetOthersIn(const ColumnFamily& family, const MergePick& pick) REQUIRES(mutex_);
  Status MergeAbove(const ColumnFamily& family, const MergePick& pick) REQUIRES(mutex_);
  Status MoveRun(ColumnFamily* family, const MergePick& pick) REQUIRES(mutex_);
  MergeStep MakeMergeStep(const ColumnFamily& family, const MergePick& pick, MergeOrder order) const
      REQUIRES(mutex_);
  bool IsPoolAtItsLargest() const REQUIRES(mutex_);
  uint64_t StepBytes(const ColumnFamily& family, const MergeStep& step) const REQUIRES(mutex_);
  Status InstallMerge(ColumnFamily* family, const MergeStep::Result& result) REQUIRES(mutex_);
  void DiscardMerge(const MergeStep::Result& result);
  void NoteMergeError(const char* what, const Status& error) REQUIRES(mutex_);
  void DropReplaced(const Version& before, const VersionEdit& edit) REQUIRES(mutex_);

  // --- db_tombstones.cc ---
  std::optional<KeyBounds> DenseRange(const ColumnFamily& family) const REQUIRES(mutex_);
  bool TombstonesDue(const ColumnFamily& family) const REQUIRES(mutex_);
  bool MergeTombstones() REQUIRES(mutex_);
  bool MergeTombstones(ColumnFamily* family) REQUIRES(mutex_);

  // --- db_idle_merge.cc ---
  bool MayMergeWhenIdle(const ColumnFamily& family) const REQUIRES(mutex_);
  bool IdleLookDue(const ColumnFamily& family) const REQUIRES(mutex_);
  ColumnFamily* FamilyToLookAt() const REQUIRES(mutex_);
  void WaitForWorkOrIdleness() REQUIRES(mutex_);
  void MergeIfMuchIsHidden(ColumnFamily* family) REQUIRES(mutex_);

  // --- db_manual.cc ---
  Status FlushFamilies(const std::vector<ColumnFamily*>& families, bool wait);
  Status FreezeActive(const std::vector<ColumnFamily*>& families);
  Status WaitForFlush(const ColumnFamily& family) REQUIRES(mutex_);

  // --- db_compact_range.cc ---
  Status CompactFamily(ColumnFamily* family, const CompactRangeOptions& options, const Slice* begin,
                       const Slice* end);
  Status MergeManually(ColumnFamily* family, const MergePick& pick) REQUIRES(mutex_);
  Status MergeRange(ColumnFamily* family, const KeyBounds& bounds, const MergePick& all) REQUIRES(mutex_);
  Status CutRuns(ColumnFamily* family, const MergePick& all, std::vector<RunCut>* cuts) REQUIRES(mutex_);
  Status CutRun(ColumnFamily* family, RunCut* cut) REQUIRES(mutex_);
  bool Join(ColumnFamily* family, int level, const std::set<uint64_t>& numbers) REQUIRES(mutex_);
  void JoinOutput(ColumnFamily* family, const MergePick& pick) REQUIRES(mutex_);

  // --- db_space.cc ---
  uint64_t SpaceAhead() const REQUIRES(mutex_);
  bool PrepareSpace(bool* lacks_space) REQUIRES(mutex_);
  void HoldMergeSpace() REQUIRES(mutex_);
  bool ReleaseMergeSpace() REQUIRES(mutex_);
  bool RetryForSpace() REQUIRES(mutex_);
  void NoteLackOfSpace(const char* what, const Status& error, bool* flag) REQUIRES(mutex_);
  void NoteSpace() REQUIRES(mutex_);
  bool FlushLacksSpace() REQUIRES(mutex_);
  bool MergeLacksSpace() REQUIRES(mutex_);
  Status CheckSpaceForMerge() REQUIRES(mutex_);
  uint64_t RoomBytes() const;
  bool SpaceCameBack() REQUIRES(mutex_);
  bool WaitForMergedSpace() REQUIRES(mutex_);

  // --- db_pacing.cc ---
  void Pace(const WriteNeeds& needs) REQUIRES(write_mutex_);
  void UpdatePace() REQUIRES(mutex_);
  void NoteUserShare() REQUIRES(mutex_);
  WriteLoad MakeSharedWriteLoad() const REQUIRES(mutex_);
  WriteLoad MakeWriteLoad(const ColumnFamily& family) const REQUIRES(mutex_);
  void NoteMergeSpeed(const MergeStep::Result& result, std::chrono::steady_clock::time_point begin)
      REQUIRES(mutex_);

  // --- db_properties.cc ---
  bool PropertyOf(ColumnFamily* family, const std::string& name, std::string* value);
  bool IntPropertyOf(const ColumnFamily& family, const std::string& name, uint64_t* value);
  static bool FamilyIntProperty(const ColumnFamily& family, const std::string& name, uint64_t* value);
  bool IntProperty(const std::string& name, uint64_t* value) REQUIRES(mutex_);
  std::string PmemCounters() const;
  Status CheckStructures() const REQUIRES(mutex_);

  // --- db_stats.cc ---
  static std::string LevelStats(const ColumnFamily& family);
  std::string Stats(ColumnFamily* family) REQUIRES(mutex_);
  static std::vector<LevelShape> LevelShapes(const ColumnFamily& family);
  WriteCounts CountWrites() const;
  MediaFigures MakeMediaFigures(const ColumnFamily& family) const REQUIRES(mutex_);
  static uint64_t ThreadCpuMicros();
  static void NoteFlushStats(ColumnFamily* family, const PlacedRun& flushed,
                             std::chrono::duration<double, std::milli> took, uint64_t cpu_micros);
  static MergeRecord BeginMergeStats(const ColumnFamily& family, const MergePick& pick,
                                     const MergeChoice& choice);
  // `record`: BeginMergeStats' of the same thread.
  static void EndMergeStats(ColumnFamily* family, const MergeStep::Result& total,
                            std::chrono::duration<double, std::milli> took, MergeRecord* record);

  // Constant after Open.
  const std::string name_;
  const DBOptions options_;
  const std::vector<ColumnFamilyDescriptor> asked_families_;  // of Open
  uint64_t segment_bytes_ = 0;  // of a log segment; one for a larger record is larger
  std::unique_ptr<InfoLog> log_;
  std::unique_ptr<Storage> storage_;  // null once closed
  std::unique_ptr<Publisher> publisher_;
  std::unique_ptr<Manifest> manifest_;
  std::chrono::steady_clock::time_point opened_at_;
  SequenceNumber sequence_at_open_ = 0;
  ColumnFamily* default_family_ = nullptr;
  std::unique_ptr<ColumnFamilyHandle> default_handle_;

  // Safe from any thread by themselves.
  std::atomic<SequenceNumber> last_sequence_{0};
  std::atomic<uint64_t> next_table_number_{1};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> cancel_merges_{false};  // those at work end with ShutdownInProgress at their next look
  std::atomic<bool> write_blocked_{false};  // closed_ or a background error: writers look closer
  struct Counters {
    PersistCounters log, flush, manifest;
    std::array<PersistCounters, kLevelsMax> merge_into;  // by output level

    PersistCounts AllMerges() const {
      PersistCounts all;
      for (const PersistCounters& level : merge_into) all += Read(level);
      return all;
    }
  } counters_;
  std::atomic<uint64_t> user_bytes_written_{0};
  std::atomic<uint64_t> writes_{0};
  std::atomic<uint64_t> writes_without_log_{0};  // of writes_
  std::atomic<uint64_t> stall_micros_{0};
  WritePacer pacer_;                          // what sets its room holds mutex_, who pays write_mutex_
  std::atomic<bool> unlogged_writes_{false};  // some write since Open had disableWAL

  Mutex write_mutex_;
  std::unique_ptr<WalWriter> wal_ GUARDED_BY(write_mutex_);
  std::vector<Span> next_segments_
      GUARDED_BY(write_mutex_);  // for the other parts of the batch at hand, last first

  mutable Mutex mutex_;
  CondVar work_;      // background threads wait for something to do
  CondVar progress_;  // others wait for background work to have got somewhere
  bool closed_ GUARDED_BY(mutex_) = false;
  ManifestState state_ GUARDED_BY(mutex_);
  // Live ones. Changed with both locks, read with either. Their members: as column_family.h says.
  std::vector<ColumnFamilyRef> families_;
  std::set<ColumnFamilyHandleImpl*> handles_ GUARDED_BY(mutex_);
  SharedSizes sizes_ GUARDED_BY(mutex_);
  SnapshotList snapshots_ GUARDED_BY(mutex_);
  SpeedMeter flush_speed_ GUARDED_BY(mutex_);
  SpeedMeter merge_speed_ GUARDED_BY(mutex_);
  std::chrono::steady_clock::time_point flush_began_ GUARDED_BY(mutex_);  // the one that runs
  const ColumnFamily* flush_family_ GUARDED_BY(mutex_) = nullptr;         // of the one that runs
  uint64_t flush_bytes_ GUARDED_BY(mutex_) = 0;                           // of its memtables
  double user_share_ GUARDED_BY(mutex_) = 1;                  // user bytes of a byte of memtable, lately
  uint64_t user_bytes_at_switch_ GUARDED_BY(mutex_) = 0;      // user_bytes_written_ at the last switch
  uint64_t memtable_bytes_at_switch_ GUARDED_BY(mutex_) = 0;  // of active memtables that went on
  bool flush_running_ GUARDED_BY(mutex_) = false;
  int merges_running_ GUARDED_BY(mutex_) = 0;
  int steps_running_ GUARDED_BY(mutex_) = 0;  // of merges, outside mutex_
  int work_paused_ GUARDED_BY(mutex_) = 0;    // calls of PauseBackgroundWork without their Continue
  bool closing_ GUARDED_BY(mutex_) = false;   // no merges but those that the last flush needs
  bool flush_lacks_space_ GUARDED_BY(mutex_) = false;
  bool merge_lacks_space_ GUARDED_BY(mutex_) = false;
  int flush_tries_without_space_ GUARDED_BY(mutex_) = 0;   // in a row
  uint64_t room_at_lack_ GUARDED_BY(mutex_) = UINT64_MAX;  // RoomBytes(); UINT64_MAX if neither lacks space
  uint64_t space_answers_ GUARDED_BY(mutex_) = 0;  // merges that ended, and times that none was worth while
  std::chrono::steady_clock::time_point space_retry_at_ GUARDED_BY(mutex_);
  std::chrono::milliseconds space_retry_pause_ GUARDED_BY(mutex_) = kHousekeepingPause;
  bool merge_for_space_ GUARDED_BY(mutex_) = false;  // a writer found no space: merge even what is not due
  Status background_error_ GUARDED_BY(mutex_);
  std::vector<Span> spare_segments_ GUARDED_BY(mutex_);  // free, faulted in
  Span merge_space_ GUARDED_BY(mutex_);                  // allocated, unused: see HoldMergeSpace
  uint64_t flushes_ GUARDED_BY(mutex_) = 0;
  uint64_t merges_ GUARDED_BY(mutex_) = 0;
  WriteStats write_stats_ GUARDED_BY(mutex_);
  uint64_t log_end_ GUARDED_BY(mutex_) =
      kLogAlignment;  // log position where the first segment of this open begins
  std::vector<std::thread> threads_;
};

}  // namespace pmlsm
