#include "tools/lab/lab.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "util/check.h"

namespace pmlsm::lab {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kPmwcasOffset = 256;  // in the client area
// Libpmemobj's own, and the logs of its transactions.
constexpr uint64_t kPoolBytesMore = uint64_t{64} << 20;

}  // namespace

const char* ToString(Placement placement) { return placement == Placement::kPmem ? "pmem" : "dram"; }

Status Lab::New(const Config& config, std::unique_ptr<Lab>* lab) {
  lab->reset(new Lab(config));
  return (*lab)->Open();
}

Status Lab::Open() {
  std::string name = config_.dir + "/node_experiments-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) return Status::IOError(config_.dir, strerror(errno));
  dir_ = name;
  PoolOptions options;
  options.set_dir = dir_ + "/pool";
  options.create = true;
  options.max_pmem_bytes = 2 * config_.instances_bytes + kPoolBytesMore;
  options.extent_bytes = kPageBytes;
  options.client_bytes = kPmwcasOffset + primitives::Pmwcas::kAreaBytes;
  options.snapshots = true;
  Status status = Pool::Open(options, &pool_);
  Span group;
  if (status.ok()) status = pool_->Grow(config_.instances_bytes, &group);
  if (!status.ok()) return status;
  pool_->Prefault(group);
  pmem_ = {pool_->Writable(0), group.offset, group.bytes};

  const uint64_t dram_bytes = kPageBytes + config_.instances_bytes;
  void* const dram =
      mmap(nullptr, dram_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (dram == MAP_FAILED) return Status::IOError("memory for nodes in DRAM", strerror(errno));
  dram_ = {static_cast<char*>(dram), kPageBytes, config_.instances_bytes};

  store_ = std::make_unique<Store>(medium(), &counters_);
  setup_store_ = std::make_unique<Store>(medium(), &setup_counters_);
  pmwcas_ = std::make_unique<primitives::Pmwcas>(pool_->Writable(0), pool_->pool_bytes(),
                                                 pool_->header().client_offset + kPmwcasOffset);
  status = pmwcas_->Recover(store_.get());
  if (!status.ok()) return status;
  thread_ = std::make_unique<primitives::PmwcasThread>(pmwcas_.get(), medium(), &counters_);
  return status;
}

PersistCounts Lab::SettledCounts() {
  CHECK(store_->Fence().ok());
  ++settling_fences_;
  PersistCounts counts = Read(counters_);
  counts.fences -= settling_fences_;
  return counts;
}

Lab::~Lab() {
  thread_.reset();
  pmwcas_.reset();
  setup_store_.reset();
  store_.reset();
  pool_.reset();
  if (dram_.base != nullptr) munmap(dram_.base, kPageBytes + dram_.bytes);
  std::error_code ignored;
  if (!dir_.empty()) std::filesystem::remove_all(dir_, ignored);
}

}  // namespace pmlsm::lab
