// NodeArena: nodes of one size, cut out of large groups (the paper's I5: allocate in groups, use again). Which of them
// are free is known in DRAM only: no persistent state changes on allocation, and after a crash whatever a chain does
// not reach is free, so nothing leaks.
//
// Thread safety: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "pmlsm/status.h"

namespace pmlsm::primitives {

class NodeArena {
 public:
  // Finds memory for another group.
  using NewGroup = std::function<Status(uint64_t* offset, uint64_t* bytes)>;

  // Offsets count from `memory`. node_bytes: a multiple of a cache line. Without new_group there is none but those
  // that are added.
  NodeArena(const char* memory, size_t node_bytes, NewGroup new_group = nullptr);

  // A group; all its nodes are free.
  void AddGroup(uint64_t offset, uint64_t bytes);

  // So many nodes are free, with a new group if need be. NoSpace, or what new_group says.
  Status Reserve(uint64_t nodes);
  // NoSpace: no node is free; add a group.
  Status Allocate(uint64_t* offset);
  // Nothing reaches it any more, durably.
  void Free(uint64_t offset);

  // At recovery: these are in use, all others are free.
  void Rebuild(const std::set<uint64_t>& used);
  // It is where a node of some group begins.
  bool IsNode(uint64_t offset) const;

  uint64_t nodes() const { return nodes_; }
  uint64_t free_nodes() const { return free_.size(); }

 private:
  struct Group {
    uint64_t first;  // node
    uint64_t end;
  };

  const char* const memory_;
  const size_t node_bytes_;
  const NewGroup new_group_;
  std::vector<Group> groups_;
  std::vector<uint64_t> free_;  // the last one is given out first: its lines are cached
  uint64_t nodes_ = 0;
};

}  // namespace pmlsm::primitives
