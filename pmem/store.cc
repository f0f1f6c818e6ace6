#include "pmem/store.h"

#include <libpmem.h>

#include <algorithm>
#include <cerrno>

namespace pmlsm {
namespace {

constexpr uintptr_t kPageBytes = 4096;

void AddTo(std::atomic<uint64_t>* total, uint64_t* pending) {
  if (*pending == 0) return;
  total->fetch_add(*pending, std::memory_order_relaxed);
  *pending = 0;
}

}  // namespace

void Store::Stream(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  if (medium_ == Medium::kFile) {
    memcpy(to, from, bytes);
    NoteDirty(to, bytes);
  } else {
    pmem_memcpy(to, from, bytes, PMEM_F_MEM_NONTEMPORAL | PMEM_F_MEM_NODRAIN);
  }
  pending_.bytes_modified += bytes;
  CountLines(to, bytes);
}

void Store::FlushLines(const void* from, size_t bytes) {
  if (bytes == 0) return;
  if (medium_ == Medium::kFile) {
    NoteDirty(from, bytes);
  } else {
    pmem_flush(from, bytes);
  }
  CountLines(from, bytes);
}

Status Store::Fence() {
  ++pending_.fences;
  HandOverCounts();
  if (medium_ == Medium::kFile) return SyncDirty();
  pmem_drain();
  return Status::OK();
}

void Store::CountForeign(const void* from, size_t bytes) {
  pending_.bytes_modified += bytes;
  CountLines(from, bytes);
  ++pending_.fences;
  HandOverCounts();
}

void Store::NoteDirty(const void* from, size_t bytes) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(from) & ~(kPageBytes - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(from) + bytes + kPageBytes - 1) & ~(kPageBytes - 1);
  // A builder writes upwards: its ranges nearly always join the last one.
  if (!dirty_.empty() && begin <= dirty_.back().end && end >= dirty_.back().begin) {
    dirty_.back().begin = std::min(dirty_.back().begin, begin);
    dirty_.back().end = std::max(dirty_.back().end, end);
    return;
  }
  dirty_.push_back({begin, end});
}

Status Store::SyncDirty() {
  std::sort(dirty_.begin(), dirty_.end(),
            [](const PageRange& a, const PageRange& b) { return a.begin < b.begin; });
  for (size_t i = 0; i < dirty_.size();) {
    PageRange range = dirty_[i];
    for (++i; i < dirty_.size() && dirty_[i].begin <= range.end; ++i) {
      range.end = std::max(range.end, dirty_[i].end);
    }
    if (pmem_msync(reinterpret_cast<const void*>(range.begin), range.end - range.begin) != 0) {
      return Status::IOError("msync of " + std::to_string(range.end - range.begin) + " bytes",
                             strerror(errno));
    }
  }
  dirty_.clear();
  return Status::OK();
}

void Store::HandOverCounts() {
  AddTo(&counters_->bytes_modified, &pending_.bytes_modified);
  AddTo(&counters_->lines_flushed, &pending_.lines_flushed);
  AddTo(&counters_->blocks_touched, &pending_.blocks_touched);
  AddTo(&counters_->fences, &pending_.fences);
}

}  // namespace pmlsm
