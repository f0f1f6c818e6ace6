// AppendFloor: what a log on this medium costs at least, for benchmark "appendfloor": records as long as the engine's
// log records, each streamed and fenced, one after the other, while another thread streams without a pause, as merges
// do. No index, no checksum, no lock: what its longest append takes is the medium's, the machine's and the scheduler's.
//
// Thread safety: Append by one thread.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "pmem/extent_allocator.h"
#include "pmem/pool.h"
#include "pmem/store.h"
#include "pmlsm/slice.h"
#include "pmlsm/status.h"

namespace pmlsm::bench {

class AppendFloor {
 public:
  // Makes a pool in a directory that must not exist, which goes with the object, and starts the busy thread.
  static Status New(const std::string& dir, std::unique_ptr<AppendFloor>* floor);
  ~AppendFloor();
  AppendFloor(const AppendFloor&) = delete;
  AppendFloor& operator=(const AppendFloor&) = delete;

  // Durable when it returns.
  Status Append(const Slice& key, const Slice& value);

 private:
  explicit AppendFloor(std::string dir) : dir_(std::move(dir)) {}
  Status Open();
  void KeepBusy();

  const std::string dir_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<ExtentAllocator> extents_;
  PersistCounters counters_;
  std::unique_ptr<Store> store_;  // Append's
  Span log_;                      // used round and round
  Span copies_;                   // what the busy thread writes
  uint64_t used_ = 0;             // bytes of log_
  std::string record_;
  std::atomic<bool> stop_{false};
  std::thread busy_;
};

}  // namespace pmlsm::bench
