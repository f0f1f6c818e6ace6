// Engine: a key-value store as the benchmark sees it. One adapter an engine; engines.cc lists them.
//
// To add one: subclass Engine and Session in <name>_engine.cc, define the engine's own flags there, add a row
// to engines.cc and a dependency to BUILD. Workloads, report and JSON need no change.
//
// An engine that is measured with several settings has a row, and so a name, for each.
//
// pmlsm::Status and pmlsm::Iterator are the common currency: an adapter turns its engine's into these.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pmlsm/iterator.h"
#include "pmlsm/slice.h"
#include "pmlsm/status.h"

namespace pmlsm::bench {

// What every engine understands. An engine's own options are flags that its adapter reads.
struct EngineOptions {
  std::string path;
  bool sync = true;
  bool disable_wal = false;
  bool verify_checksum = true;
  // 0 = the engine's default.
  uint64_t write_buffer_size = 0;
  int max_write_buffer_number = 0;
  int max_background_jobs = 0;
  // Negative = the engine's default.
  int bloom_bits = -1;
  // What the run will put in, for engines that reserve room in advance.
  uint64_t entries = 0;
  uint64_t key_bytes = 0;
  uint64_t value_bytes = 0;
  uint64_t DataBytes() const { return entries * (key_bytes + value_bytes); }
};

// One thread's access to an open engine: it holds what that thread uses again and again (a pinned value, a
// batch, a read transaction). One thread at a time; gone before Engine::Close.
class Session {
 public:
  virtual ~Session() = default;

  virtual Status Put(const Slice& key, const Slice& value) = 0;
  virtual Status Delete(const Slice& key) = 0;
  // *value stays valid until the session's next call. NotFound if the key has no value.
  virtual Status Get(const Slice& key, Slice* value) = 0;

  // Add to the batch; BatchWrite applies it as one and empties it.
  virtual Status BatchPut(const Slice& key, const Slice& value) = 0;
  virtual Status BatchDelete(const Slice& key) = 0;
  virtual Status BatchWrite() = 0;

  // Gone before the session is.
  virtual std::unique_ptr<Iterator> NewIterator() = 0;
};

// Thread safety: Open, Close and Destroy while no other call runs; the rest from any thread.
class Engine {
 public:
  virtual ~Engine() = default;

  // InvalidArgument with the option's name and range, or NotSupported.
  virtual Status CheckOptions() const = 0;
  // Creates the DB if there is none.
  virtual Status Open() = 0;
  virtual Status Close() = 0;
  // Removes the DB at the path; OK if there is none. Not while it is open.
  virtual Status Destroy() = 0;

  virtual std::unique_ptr<Session> NewSession() = 0;

  virtual Status Flush() = 0;
  virtual Status Compact() = 0;
  virtual Status WaitForCompaction() = 0;

  // "stats", "levelstats", "pmem-counters" (one line a class: name bytes lines blocks fences),
  // "cur-size-all-mem-tables" (bytes); false if the engine has nothing of the kind.
  virtual bool GetProperty(const std::string& name, std::string* value) = 0;

  // False if reads return other bytes than those written (a floor that only does an engine's memory accesses).
  virtual bool ReturnsWhatWasWritten() const { return true; }

  // Lines of the report's header, name and text: medium, durability of a write, options in force. After Open.
  virtual std::vector<std::pair<std::string, std::string>> Describe() = 0;
};

// What the engine's name says about its options, put into them; InvalidArgument if they contradict it.
// REQUIRES: an engine has that name.
Status ApplyEngineName(const std::string& name, EngineOptions* options);

// Null if no engine has that name.
std::unique_ptr<Engine> NewEngine(const std::string& name, const EngineOptions& options);
// "pmlsm, ..."
std::string EngineNames();

}  // namespace pmlsm::bench
