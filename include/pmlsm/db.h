// DB: a durable ordered map from keys to values, kept in persistent memory.
//
//   pmlsm::Options options;
//   options.create_if_missing = true;
//   std::unique_ptr<pmlsm::DB> db;
//   pmlsm::Status s = pmlsm::DB::Open(options, "/mnt/pmem/db", &db);
//
// Thread safety: every method may be called from any thread at any time, but Close and the destructor only
// once all other calls have returned. One DB object at a time has a DB open, in all processes. Do not fork
// with a DB open. Keys and values are any bytes, empty ones included, up to the limits in types.h.
//
// Calls come in pairs: without a ColumnFamilyHandle they mean the default family (column_family.h). By a handle they
// also answer InvalidArgument, having changed nothing, if it is null or of another DB, or if the family was dropped and
// the call would change it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pmlsm/column_family.h"
#include "pmlsm/export.h"
#include "pmlsm/iterator.h"
#include "pmlsm/options.h"
#include "pmlsm/pinnable_slice.h"
#include "pmlsm/slice.h"
#include "pmlsm/snapshot.h"
#include "pmlsm/status.h"
#include "pmlsm/write_batch.h"

namespace pmlsm {

// A range of user keys: [start, limit).
struct Range {
  Slice start;
  Slice limit;
};

class PMLSM_EXPORT DB {
 public:
  // Opens the DB in directory `name`. On failure *db is null and nothing on the medium has changed, unless it
  // was being created. Errors: InvalidArgument (options, comparator, no such DB, DB exists, not a DB, newer
  // format), IOError (directory, a second open: "lock"), Corruption (what and where).
  static Status Open(const Options& options, const std::string& name, std::unique_ptr<DB>* db);
  // The same; the caller deletes *db.
  static Status Open(const Options& options, const std::string& name, DB** db);

  // Opens the DB with all of its families, each with its own options; on success (*handles)[i] is that of
  // families[i], to be given back. Also InvalidArgument: the default family or another that the DB has is not among
  // them (the message names them), one is there twice, or the DB does not have it and create_missing_column_families
  // is false. The first two calls are this one with the default family alone.
  static Status Open(const DBOptions& options, const std::string& name,
                     const std::vector<ColumnFamilyDescriptor>& families,
                     std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* db);
  static Status Open(const DBOptions& options, const std::string& name,
                     const std::vector<ColumnFamilyDescriptor>& families,
                     std::vector<ColumnFamilyHandle*>* handles, DB** db);

  // The names of a DB's families, the default one first. `options`: pool_file. IOError if the DB is open.
  static Status ListColumnFamilies(const DBOptions& options, const std::string& name,
                                   std::vector<std::string>* families);

  // Without Close first, does what Close does, but cannot report. Live iterators and pinned slices stay
  // readable and keep what they need until they are gone; snapshots die with the DB.
  virtual ~DB() = default;
  DB(const DB&) = delete;
  DB& operator=(const DB&) = delete;

  // Flushes memtables, ends background work and closes the pool. Merges are cut short, within a second (longer only
  // if a single value of hundreds of MiB is being copied), and go on from there after the next open; a pause ends.
  // Aborted, and the DB goes on, if iterators, pinned slices or snapshots are live. Any later call answers Aborted;
  // a second Close is OK.
  virtual Status Close() = 0;

  // A new, empty family; *handle is to be given back. InvalidArgument: options, name (or there is a family of that
  // name). NotSupported if the manifest has no room for more families (36 with
  // default options; num_levels * size_ratio of all of them together count, and the names).
  virtual Status CreateColumnFamily(const ColumnFamilyOptions& options, const std::string& name,
                                    ColumnFamilyHandle** handle) = 0;
  // From then on the family is not part of the DB, also after a crash, and its name is free; writes to it are refused,
  // with the batch that they are in. Readers go on (ColumnFamilyHandle). Its memtables are not counted and not
  // flushed any more. InvalidArgument for the default family, and if it was dropped before.
  virtual Status DropColumnFamily(ColumnFamilyHandle* family) = 0;
  // Of several, in order; the first error ends it, and what was done stays. *handles: of those that were created.
  Status CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& families,
                              std::vector<ColumnFamilyHandle*>* handles);
  Status DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& families);
  // InvalidArgument for null and for DefaultColumnFamily().
  virtual Status DestroyColumnFamilyHandle(ColumnFamilyHandle* family) = 0;
  // Belongs to the DB.
  virtual ColumnFamilyHandle* DefaultColumnFamily() const = 0;

  // Sets key to value, replacing any older value.
  virtual Status Put(const WriteOptions& options, const Slice& key, const Slice& value) = 0;
  virtual Status Put(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key,
                     const Slice& value) = 0;
  // Removes key; OK if it was not there.
  virtual Status Delete(const WriteOptions& options, const Slice& key) = 0;
  virtual Status Delete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key) = 0;
  // Removes a key that was put once. The two go together as soon as they meet in a flush or a merge, where a Delete
  // stays until nothing older can hold the key; so it is for keys that are written, read and removed, as in a queue.
  // By contract there is exactly one Put of the key since its last SingleDelete, or since it was first written, and
  // nothing else. After several Puts, or with Deletes or Merges of the same key, an older value may come back.
  virtual Status SingleDelete(const WriteOptions& options, const Slice& key) = 0;
  virtual Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* family, const Slice& key) = 0;
  // Applies the batch as one, in all families: after a crash all of it is there or nothing. With disableWAL that
  // holds only for what one Flush call flushes.
  virtual Status Write(const WriteOptions& options, WriteBatch* batch) = 0;

  // NotFound if key has no value. *value points into the DB, without a copy.
  virtual Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) = 0;
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                     PinnableSlice* value) = 0;
  // The same with a copy.
  virtual Status Get(const ReadOptions& options, const Slice& key, std::string* value) = 0;
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* family, const Slice& key,
                     std::string* value) = 0;

  // As many Gets as there are keys, all of one moment: they show all of a batch or nothing. Keys may come in any order,
  // and several times. The status of each; (*values)[i] is that of keys[i], and empty if its status is not OK.
  virtual std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                                       std::vector<std::string>* values) = 0;
  // keys[i] of families[i]. As many families as keys, else all answer InvalidArgument.
  virtual std::vector<Status> MultiGet(const ReadOptions& options,
                                       const std::vector<ColumnFamilyHandle*>& families,
                                       const std::vector<Slice>& keys, std::vector<std::string>* values) = 0;

  // Never null: after an error status() tells. The caller deletes it, before Close.
  virtual Iterator* NewIterator(const ReadOptions& options) = 0;
  virtual Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) = 0;
  // One of each family, all of the same moment: they show all of a batch or nothing. On an error there are none.
  virtual Status NewIterators(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& families,
                              std::vector<Iterator*>* iterators) = 0;

  // The present state, to be read later. Null if the DB is closed.
  virtual const Snapshot* GetSnapshot() = 0;
  virtual void ReleaseSnapshot(const Snapshot* snapshot) = 0;

  // Moves the active memtable to a run.
  virtual Status Flush(const FlushOptions& options = {}) = 0;
  virtual Status Flush(const FlushOptions& options, ColumnFamilyHandle* family) = 0;
  // Of all of them as they are at one moment; one after the other.
  virtual Status Flush(const FlushOptions& options, const std::vector<ColumnFamilyHandle*>& families) = 0;

  // Merges what holds keys in [*begin, *end], both inclusive, into the last level in use; null = no bound, and two
  // of them make the whole family one run. The memtable is flushed first. With bounds only tables that reach into
  // the range are rewritten, those on its bounds twice; all others stay as they are. Deleted and overwritten keys in
  // the range then take no space, but for what snapshots see. InvalidArgument, and nothing is changed, if *begin is
  // above *end; ShutdownInProgress if Close cut it short.
  virtual Status CompactRange(const CompactRangeOptions& options, const Slice* begin, const Slice* end) = 0;
  virtual Status CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* family,
                              const Slice* begin, const Slice* end) = 0;

  // Returns when no flush or merge of any family is running or due. The background error, if there is one. Aborted while
  // background work is paused and not all of it is done (RocksDB's abort_on_pause).
  virtual Status WaitForCompact() = 0;

  // Returns when no flush and no merge is at work, and keeps it so: a merge stops between two of its steps, which
  // takes it as long as one step. Calls are counted: as many of ContinueBackgroundWork end the pause, and so does
  // Close. Meanwhile reads and writes go on; a writer waits once all memtables (max_write_buffer_number,
  // db_write_buffer_size) are full, and Flush (with wait) and CompactRange until the pause is over. Deletes that
  // find the pool full answer NoSpace instead of waiting for a merge. Space is still prepared for the log.
  virtual Status PauseBackgroundWork() = 0;
  // InvalidArgument if there is no pause.
  virtual Status ContinueBackgroundWork() = 0;

  // False if the property is not known. Names, and which of them are the DB's whatever the family:
  // doc/ARCHITECTURE.md, "Properties".
  virtual bool GetProperty(const Slice& property, std::string* value) = 0;
  virtual bool GetProperty(ColumnFamilyHandle* family, const Slice& property, std::string* value) = 0;
  virtual bool GetIntProperty(const Slice& property, uint64_t* value) = 0;
  virtual bool GetIntProperty(ColumnFamilyHandle* family, const Slice& property, uint64_t* value) = 0;
  // The sum over all families. False for what is the DB's.
  virtual bool GetAggregatedIntProperty(const Slice& property, uint64_t* value) = 0;

  virtual const std::string& GetName() const = 0;
  virtual SequenceNumber GetLatestSequenceNumber() const = 0;

 protected:
  DB() = default;
};

// Removes the DB in directory `name` and what belongs to it; files that are not the DB's stay. OK if there is
// none. IOError if the DB is open.
PMLSM_EXPORT Status DestroyDB(const std::string& name, const Options& options);

}  // namespace pmlsm
