// For tests: a pool for one chain of nodes, with what each persister needs. Opens what is there, or makes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "pmem/pool.h"
#include "pmem/store.h"
#include "pmlsm/status.h"
#include "primitives/node_arena.h"
#include "primitives/persister.h"
#include "primitives/pmwcas.h"

namespace pmlsm::primitives {

class TestPool {
 public:
  // Up to PMwCAS's recovery, included.
  static Status Open(const std::string& directory, std::unique_ptr<TestPool>* opened) {
    std::unique_ptr<TestPool> pool(new TestPool);
    PoolOptions options;
    options.set_dir = directory;
    options.create = true;
    options.max_pmem_bytes = 32 << 20;
    options.extent_bytes = 4096;
    options.client_bytes = kPmwcasOffset + Pmwcas::kAreaBytes;
    options.snapshots = true;
    Status status = Pool::Open(options, &pool->pool_);
    if (status.ok() && pool->pool_->Groups().empty()) {
      Span group;
      status = pool->pool_->Grow(kGroupBytes, &group);
    }
    if (!status.ok()) return status;
    const Medium medium = pool->pool_->medium();
    pool->store_ = std::make_unique<Store>(medium, &pool->counters_);
    pool->pmwcas_ =
        std::make_unique<Pmwcas>(pool->memory(), pool->pool_->pool_bytes(), pool->client() + kPmwcasOffset);
    status = pool->pmwcas_->Recover(pool->store());
    if (!status.ok()) return status;
    pool->thread_ = std::make_unique<PmwcasThread>(pool->pmwcas_.get(), medium, &pool->counters_);
    *opened = std::move(pool);
    return status;
  }

  char* memory() { return pool_->Writable(0); }
  uint64_t* head() { return pool_->Writable<uint64_t>(client()); }
  Store* store() { return store_.get(); }
  const PersistCounters& counters() const { return counters_; }

  // All groups there are, and further ones as needed.
  NodeArena NewArena(size_t node_bytes) {
    NodeArena arena(memory(), node_bytes, [this](uint64_t* offset, uint64_t* bytes) {
      Span group;
      Status status = pool_->Grow(kGroupBytes, &group);
      *offset = group.offset;
      *bytes = group.bytes;
      return status;
    });
    for (const Span& group : pool_->Groups()) arena.AddGroup(group.offset, group.bytes);
    return arena;
  }

  template <typename Persister>
  Persister NewPersister() {
    if constexpr (std::is_same_v<Persister, PmwcasPersister>) {
      return Persister(thread_.get());
    } else if constexpr (std::is_same_v<Persister, AtomicPersister>) {
      return Persister(store_.get());
    } else {
      return Persister(pool_.get(), store_.get());
    }
  }

 private:
  // The client area: the chain's head, then what PMwCAS needs.
  static constexpr uint64_t kPmwcasOffset = 256;
  static constexpr uint64_t kGroupBytes = 1 << 20;

  TestPool() = default;
  uint64_t client() { return pool_->header().client_offset; }

  PersistCounters counters_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Pmwcas> pmwcas_;
  std::unique_ptr<PmwcasThread> thread_;
};

}  // namespace pmlsm::primitives
