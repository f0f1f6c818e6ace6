// Lab: the memories that the experiments work in, one persistent and one in DRAM, and what persisters need.
//
// Thread safety: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "pmem/pmdk_allocator.h"
#include "pmem/pool.h"
#include "pmem/store.h"
#include "pmlsm/status.h"
#include "primitives/persister.h"
#include "primitives/pmwcas.h"
#include "tools/lab/config.h"

namespace pmlsm::lab {

enum class Placement { kDram, kPmem };
const char* ToString(Placement placement);

// Memory whose bytes are of no interest to anybody between two rows.
struct Region {
  char* base = nullptr;  // offsets count from here
  uint64_t begin = 0;    // offset, a multiple of 4 KiB, not 0
  uint64_t bytes = 0;
};

class Lab {
 public:
  // Makes a pool in a directory of its own below config.dir, which goes with the Lab.
  static Status New(const Config& config, std::unique_ptr<Lab>* lab);
  ~Lab();
  Lab(const Lab&) = delete;
  Lab& operator=(const Lab&) = delete;

  const Config& config() const { return config_; }
  Medium medium() const { return pool_->medium(); }
  Region region(Placement placement) const { return placement == Placement::kPmem ? pmem_ : dram_; }

  // What is measured is stored through this one, or through persisters.
  Store* store() { return store_.get(); }
  // A Store hands over what it has counted in a fence. The one that this takes is not in the sum.
  PersistCounts SettledCounts();
  // What sets up is stored through this one.
  Store* setup_store() { return setup_store_.get(); }

  // From here on operations are those of this row.
  void SetDelayOf(const std::string& row) {
    const auto delay = config_.delays.find(row);
    delay_nanos_ = delay == config_.delays.end() ? 0 : delay->second;
  }
  double delay_nanos() const { return delay_nanos_; }

  PmdkAllocator NewPmdkAllocator() { return PmdkAllocator(pool_.get()); }

  template <typename Persister>
  std::unique_ptr<Persister> NewPersister() {
    using namespace primitives;  // NOLINT: its persisters
    if constexpr (std::is_same_v<Persister, MemoryPersister>) {
      return std::make_unique<Persister>();
    } else if constexpr (std::is_same_v<Persister, PmwcasPersister>) {
      return std::make_unique<Persister>(thread_.get());
    } else if constexpr (std::is_base_of_v<LoggedPersister, Persister>) {
      return std::make_unique<Persister>(pool_.get(), store_.get());
    } else {
      return std::make_unique<Persister>(store_.get());
    }
  }

 private:
  explicit Lab(const Config& config) : config_(config) {}
  Status Open();

  const Config config_;
  std::string dir_;
  double delay_nanos_ = 0;
  std::unique_ptr<Pool> pool_;
  Region pmem_;
  Region dram_;
  PersistCounters counters_;
  uint64_t settling_fences_ = 0;
  PersistCounters setup_counters_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Store> setup_store_;
  std::unique_ptr<primitives::Pmwcas> pmwcas_;
  std::unique_ptr<primitives::PmwcasThread> thread_;
};

}  // namespace pmlsm::lab
