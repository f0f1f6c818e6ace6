// Persisters: by what means a change of a node becomes durable and atomic (the paper's DG3). The steps of a change
// are written once, as calls of a persister, and run with any of these:
//
//                 in place     words a commit     how
//   Memory        yes          any                plain stores: nodes in DRAM
//   Transaction   yes          any                a PMDK transaction over everything that is stored in the node
//   Individual    yes          any                one over what readers reach; the rest is flushed and fenced
//   Atomic        no           1                  an 8-byte store ("No FA")
//   Pmwcas        no           8                  a persistent multi-word compare-and-swap
//
// Each has
//   kUndo        a crash before Commit undoes Overwrite: nodes may be changed in place
//   kWordsMax    how many words a Commit publishes
//   Write        bytes that no published word names yet
//   Overwrite    bytes that readers reach. Without kUndo: none (CHECKed)
//   Stage        a word that Commit shall publish
//   PublishNow   a word, durable on return, and all written so far before it. Only without kUndo
//   Commit       all staged words or none, and if so, after all that was written
// and, from FreshWrites, stores to what nothing reaches. An error ends a change: it comes back from Commit; the
// memory must then be recovered before the next one.
//
// Thread safety: one thread; it owns the nodes that it changes.
#pragma once

#include <cstdint>
#include <cstring>

#include "pmem/pool.h"
#include "pmem/store.h"
#include "pmem/transaction.h"
#include "pmlsm/status.h"
#include "primitives/fresh_writes.h"
#include "primitives/pmwcas.h"
#include "util/check.h"

namespace pmlsm::primitives {

class MemoryPersister {
 public:
  static constexpr char kName[] = "memory";
  static constexpr bool kUndo = true;
  static constexpr uint32_t kWordsMax = UINT32_MAX;

  void Write(void* to, const void* from, size_t bytes) {
    if (bytes != 0) memcpy(to, from, bytes);
  }
  void Overwrite(void* to, const void* from, size_t bytes) { Write(to, from, bytes); }
  void Stage(uint64_t* word, uint64_t value) { *word = value; }
  Status Commit() { return Status::OK(); }
  void WriteFresh(void* to, const void* from, size_t bytes) { Write(to, from, bytes); }
  void StreamFresh(void* to, const void* from, size_t bytes) { Write(to, from, bytes); }
  void Hint(uint64_t* word, uint64_t value) { *word = value; }
};

// What the two kinds of transactions share.
class LoggedPersister : public FreshWrites {
 public:
  static constexpr bool kUndo = true;
  static constexpr uint32_t kWordsMax = StagedWords::kMax;

  // `pool` holds the nodes; it was opened with PoolOptions::snapshots.
  LoggedPersister(Pool* pool, Store* store) : FreshWrites(store), transaction_(pool) {}

  // 1. libpmemobj logs the range. 2. Store.
  void Overwrite(void* to, const void* from, size_t bytes) {
    if (bytes == 0) return;
    if (status_.ok()) status_ = transaction_.Add(to, bytes);
    if (status_.ok()) store_->Copy(to, from, bytes);
  }
  void Stage(uint64_t* word, uint64_t value) { staged_.Push(word, value); }
  // 1. Fence what was only flushed. 2. Log the words and store them. 3. Commit. CRASH before 3: libpmemobj's recovery
  // puts all back that was logged.
  Status Commit();

 protected:
  Status status_;  // the first error of this change

 private:
  Transaction transaction_;
  StagedWords staged_;
};

class TransactionPersister : public LoggedPersister {
 public:
  static constexpr char kName[] = "transaction";
  using LoggedPersister::LoggedPersister;
  void Write(void* to, const void* from, size_t bytes) { Overwrite(to, from, bytes); }
};

class IndividualPersister : public LoggedPersister {
 public:
  static constexpr char kName[] = "individual";
  using LoggedPersister::LoggedPersister;
  void Write(void* to, const void* from, size_t bytes) { WriteFresh(to, from, bytes); }
};

// What the two without undo share.
class PublishingPersister : public FreshWrites {
 public:
  static constexpr bool kUndo = false;

  explicit PublishingPersister(Store* store) : FreshWrites(store) {}

  void Write(void* to, const void* from, size_t bytes) { WriteFresh(to, from, bytes); }
  void Overwrite(void*, const void*, size_t bytes) { CHECK(bytes == 0); }
  void Stage(uint64_t* word, uint64_t value) { staged_.Push(word, value); }
  // 1. Fence what was flushed. 2. Store the word (8 B), flush, fence: visible. CRASH before 2: old or new.
  void PublishNow(uint64_t* word, uint64_t value);

 protected:
  Status status_;  // the first error of this change
  StagedWords staged_;
};

class AtomicPersister : public PublishingPersister {
 public:
  static constexpr char kName[] = "atomic";
  static constexpr uint32_t kWordsMax = 1;
  using PublishingPersister::PublishingPersister;
  // As PublishNow of the one word that is staged.
  Status Commit();
};

class PmwcasPersister : public PublishingPersister {
 public:
  static constexpr char kName[] = "pmwcas";
  static constexpr uint32_t kWordsMax = Pmwcas::kWordsMax;

  explicit PmwcasPersister(PmwcasThread* thread) : PublishingPersister(thread->store()), thread_(thread) {}

  // One word needs no descriptor, since its node has one writer: as PublishNow. Several: 1. Flush what was written;
  // the fence of the descriptor covers it. 2. Change the words (pmwcas.h).
  Status Commit();

 private:
  PmwcasThread* const thread_;
};

}  // namespace pmlsm::primitives
