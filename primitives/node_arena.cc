#include "primitives/node_arena.h"

#include <algorithm>
#include <string>
#include <utility>

#include "pmem/counters.h"
#include "util/check.h"

namespace pmlsm::primitives {

NodeArena::NodeArena(const char* memory, size_t node_bytes, NewGroup new_group)
    : memory_(memory), node_bytes_(node_bytes), new_group_(std::move(new_group)) {
  CHECK(node_bytes > 0 && node_bytes % kCacheLineBytes == 0);
}

void NodeArena::AddGroup(uint64_t offset, uint64_t bytes) {
  const uint64_t misaligned = reinterpret_cast<uintptr_t>(memory_ + offset) % kCacheLineBytes;
  const uint64_t skipped = misaligned == 0 ? 0 : kCacheLineBytes - misaligned;
  CHECK(skipped <= bytes);
  const uint64_t count = (bytes - skipped) / node_bytes_;
  CHECK(offset + skipped != 0);  // it would be a null
  const Group group = {offset + skipped, offset + skipped + count * node_bytes_};
  groups_.push_back(group);
  nodes_ += count;
  for (uint64_t node = group.end; node > group.first; node -= node_bytes_)
    free_.push_back(node - node_bytes_);
}

Status NodeArena::Reserve(uint64_t nodes) {
  while (free_.size() < nodes) {
    if (new_group_ == nullptr) {
      return Status::NoSpace(std::to_string(free_.size()) + " of " + std::to_string(nodes_) + " nodes of " +
                             std::to_string(node_bytes_) + " bytes are free");
    }
    uint64_t offset = 0;
    uint64_t bytes = 0;
    Status status = new_group_(&offset, &bytes);
    if (!status.ok()) return status;
    AddGroup(offset, bytes);
  }
  return Status::OK();
}

Status NodeArena::Allocate(uint64_t* offset) {
  Status status = Reserve(1);
  if (!status.ok()) return status;
  *offset = free_.back();
  free_.pop_back();
  return Status::OK();
}

void NodeArena::Free(uint64_t offset) {
  DCHECK(IsNode(offset));
  free_.push_back(offset);
}

void NodeArena::Rebuild(const std::set<uint64_t>& used) {
  free_.clear();
  for (const Group& group : groups_) {
    for (uint64_t node = group.end; node > group.first; node -= node_bytes_) {
      if (used.count(node - node_bytes_) == 0) free_.push_back(node - node_bytes_);
    }
  }
}

bool NodeArena::IsNode(uint64_t offset) const {
  return std::any_of(groups_.begin(), groups_.end(), [&](const Group& group) {
    return offset >= group.first && offset < group.end && (offset - group.first) % node_bytes_ == 0;
  });
}

}  // namespace pmlsm::primitives
