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
#pragma once

#include <cstdint>
#include <memory>
#include <string>

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

  // Sets key to value, replacing any older value.
  virtual Status Put(const WriteOptions& options, const Slice& key, const Slice& value) = 0;
  // Removes key; OK if it was not there.
  virtual Status Delete(const WriteOptions& options, const Slice& key) = 0;
  // Applies the batch as one: after a crash all of it is there or nothing.
  virtual Status Write(const WriteOptions& options, WriteBatch* batch) = 0;

  // NotFound if key has no value. *value points into the DB, without a copy.
  virtual Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) = 0;
  // The same with a copy.
  virtual Status Get(const ReadOptions& options, const Slice& key, std::string* value) = 0;

  // Never null: after an error status() tells. The caller deletes it, before Close.
  virtual Iterator* NewIterator(const ReadOptions& options) = 0;

  // The present state, to be read later. Null if the DB is closed.
  virtual const Snapshot* GetSnapshot() = 0;
  virtual void ReleaseSnapshot(const Snapshot* snapshot) = 0;

  // Moves the active memtable to a run.
  virtual Status Flush(const FlushOptions& options = {}) = 0;

  // Merges what holds keys in [*begin, *end], both inclusive, into the last level in use; null = no bound, and two of
  // them make the whole DB one run. The memtable is flushed first. With bounds only tables that reach into the range
  // are rewritten, those on its bounds twice; all others stay as they are. Deleted and overwritten keys in the range
  // then take no space, but for what snapshots see. InvalidArgument, and nothing is changed, if *begin is above *end;
  // ShutdownInProgress if Close cut it short.
  virtual Status CompactRange(const CompactRangeOptions& options, const Slice* begin, const Slice* end) = 0;

  // Returns when no flush or merge is running or due. The background error, if there is one. Aborted while
  // background work is paused and not all of it is done (RocksDB's abort_on_pause).
  virtual Status WaitForCompact() = 0;

  // Returns when no flush and no merge is at work, and keeps it so: a merge stops between two of its steps, which
  // takes it as long as one step. Calls are counted: as many of ContinueBackgroundWork end the pause, and so does
  // Close. Meanwhile reads and writes go on; a writer waits once all memtables (max_write_buffer_number) are full, and
  // Flush (with wait) and CompactRange until the pause is over. Deletes that find the pool full answer NoSpace
  // instead of waiting for a merge. Space is still prepared for the log.
  virtual Status PauseBackgroundWork() = 0;
  // InvalidArgument if there is no pause.
  virtual Status ContinueBackgroundWork() = 0;

  // False if the property is not known. Names: doc/ARCHITECTURE.md, "Properties".
  virtual bool GetProperty(const Slice& property, std::string* value) = 0;
  virtual bool GetIntProperty(const Slice& property, uint64_t* value) = 0;

  virtual const std::string& GetName() const = 0;
  virtual SequenceNumber GetLatestSequenceNumber() const = 0;

 protected:
  DB() = default;
};

// Removes the DB in directory `name` and what belongs to it; files that are not the DB's stay. OK if there is
// none. IOError if the DB is open.
PMLSM_EXPORT Status DestroyDB(const std::string& name, const Options& options);

}  // namespace pmlsm
