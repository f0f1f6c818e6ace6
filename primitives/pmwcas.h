// Pmwcas: a persistent multi-word compare-and-swap. Up to eight aligned words anywhere in a memory change together,
// or not at all if one of them does not hold what is expected: for other threads, and after a crash. After Wang,
// Levandoski, Larson: "Easy Lock-Free Indexing in Non-Volatile Memory" (ICDE 2018).
//
//   Pmwcas pmwcas(...);          one a memory
//   pmwcas.Recover();            after each mapping of it, before any use
//   PmwcasThread thread(&pmwcas, ...);
//   thread.Execute(changes, n, &changed);
//   thread.Read(word);           the only way to read a word that others change
//
// A change has a descriptor, in persistent memory, and four steps, each ended by a fence:
//   1. Write the descriptor: offsets, old values, new values, undecided.
//   2. In order of their offsets, replace the old values by references to it, and flush the words.
//   3. Decide: "succeeded" if all are in place, else "failed". CRASH before 3: recovery puts the old values back;
//      after 3: the new ones.
//   4. Replace the references by the new (old) values, and flush the words. The descriptor may be used again.
// Whoever meets a reference runs steps 2 to 4 of its descriptor before going on: nobody waits for a thread that
// sleeps in the midst of a change. A value that is seen after 4's store is as good as durable, for the decision is.
//
// A thread that comes late may find a word's old value again in step 2 though all is decided. So the reference is put
// in place in two: an install mark, unique to the attempt, and then the reference if the descriptor is still
// undecided, else the old value, durable.
//
// Epochs: a descriptor is used again only when no thread is left that may have seen it in its last use.
//
// Invariants: 1. A reference, or an install mark, names the descriptor's present version, in memory and on the
// medium. 2. No word holds a reference to a descriptor that is used again: its last owner flushed all words.
//
// Thread safety: Pmwcas: Recover alone, then all from any thread. PmwcasThread: one thread each.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "pmem/store.h"
#include "pmlsm/status.h"
#include "primitives/pmwcas_format.h"

namespace pmlsm::primitives {

class Pmwcas {
 public:
  static constexpr uint32_t kWordsMax = kPmwcasWordsMax;
  static constexpr uint32_t kThreadsMax = kPmwcasThreadsMax;
  static constexpr size_t kAreaBytes = kPmwcasDescriptors * sizeof(PmwcasDescriptor);

  struct Change {
    uint64_t* word;
    uint64_t expected;
    uint64_t desired;
  };

  // [memory, memory + memory_bytes) holds all words. The area begins at area_offset, a multiple of 256; it was zero
  // before its first use.
  Pmwcas(char* memory, uint64_t memory_bytes, uint64_t area_offset);

  // Ends what a crash has left: no word holds a reference. Corruption if a descriptor names a word that cannot be.
  // CRASH in it: the next one starts over.
  Status Recover(Store* store);

 private:
  friend class PmwcasThread;
  static constexpr uint64_t kIdle = 0;

  PmwcasDescriptor* DescriptorAt(uint32_t i) const { return descriptors_ + i; }
  uint64_t* WordAt(uint64_t offset) const { return reinterpret_cast<uint64_t*>(memory_ + offset); }
  bool IsWord(uint64_t offset) const;
  Status RecoverDescriptor(uint32_t index, Store* store);

  char* const memory_;
  const uint64_t memory_bytes_;
  PmwcasDescriptor* const descriptors_;

  std::atomic<uint64_t> epoch_{1};
  std::atomic<bool> in_use_[kThreadsMax] = {};
  std::atomic<uint64_t> entered_[kThreadsMax] = {};  // epoch in which a thread entered, or kIdle
};

class PmwcasThread {
 public:
  // At most Pmwcas::kThreadsMax at once (CHECKed). `pmwcas` and `counters` outlive it.
  PmwcasThread(Pmwcas* pmwcas, Medium medium, PersistCounters* counters);
  ~PmwcasThread();
  PmwcasThread(const PmwcasThread&) = delete;
  PmwcasThread& operator=(const PmwcasThread&) = delete;

  // Distinct words, 1 to kWordsMax; values below 2^62 (CHECKed). *changed: all words held what was expected, and have
  // changed, durably. An error of the medium: recover before any other use.
  Status Execute(const Pmwcas::Change* changes, uint32_t count, bool* changed);

  uint64_t Read(const uint64_t* word);

  // For other stores of this thread: they share its fences.
  Store* store() { return &store_; }

 private:
  class Entered;

  uint32_t Claim();
  uint64_t Prepare(uint32_t descriptor, const Pmwcas::Change* changes, uint32_t count);
  // Steps 2 to 4, for any descriptor that has been met. False: failed.
  bool Run(uint64_t reference);
  bool InstallAll(uint64_t reference);
  bool InstallOne(uint64_t reference, uint32_t i);
  void ResolveInstall(uint64_t install);
  bool Finish(uint64_t reference);
  void Help(uint64_t seen);
  void Fence();

  Pmwcas* const pmwcas_;
  Store store_;
  uint32_t index_;  // of this thread
  uint64_t attempt_ = 0;
  uint32_t next_ = 0;  // of its descriptors
  uint64_t retired_in_[kPmwcasDescriptorsEach] = {};
  Status status_;  // of the first fence that failed
};

}  // namespace pmlsm::primitives
