// Instances: many short chains of nodes, alike, of which each operation takes one at random, so that it meets nodes
// that the caches do not hold. A chain has a head, on a line of its own, and a few nodes side by side; new nodes come
// from spare ones behind all chains.
//
// Not a template, for there are hundreds of node types: it moves bytes.
//
// Thread safety: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "primitives/node_arena.h"
#include "primitives/node_parts.h"
#include "tools/lab/lab.h"

namespace pmlsm::lab {

class Instances {
 public:
  struct Shape {
    size_t node_bytes;
    size_t siblings_offset;  // of the node's member
    uint64_t nodes;          // of a chain
    uint64_t spare_nodes;    // for each chain
    uint64_t count_max = UINT64_MAX;
  };
  template <typename Node>
  static Shape ShapeOf(uint64_t nodes, uint64_t spare_nodes, uint64_t count_max) {
    return {sizeof(Node), offsetof(Node, siblings), nodes, spare_nodes, count_max};
  }

  // Each instance has one of kImages images, so that no row depends on one choice of keys.
  static constexpr uint64_t kImages = 16;
  // Fills the nodes of image `number`; they are zeros. The siblings are set later.
  using Fill = std::function<void(uint64_t number, void* nodes)>;

  Instances(Lab* lab, Placement placement, const Shape& shape, const Fill& fill);

  uint64_t count() const { return count_; }
  // The i-th to visit, i < count().
  uint32_t InOrder(uint64_t i) const { return order_[i]; }
  static uint64_t ImageOf(uint32_t instance) { return instance % kImages; }

  char* base() const { return region_.base; }
  uint64_t* head(uint32_t instance) const {
    return reinterpret_cast<uint64_t*>(region_.base + region_.begin + instance * primitives::kLineBytes);
  }
  template <typename Node>
  Node* node(uint32_t instance, uint64_t number) const {
    return reinterpret_cast<Node*>(region_.base + NodeOffset(instance, number));
  }
  primitives::NodeArena* arena() const { return arena_.get(); }

  // All as it was at first.
  void Reset();

 private:
  uint64_t NodeOffset(uint32_t instance, uint64_t number) const {
    return nodes_ + (instance * shape_.nodes + number) * shape_.node_bytes;
  }

  const Region region_;
  const Shape shape_;
  Store* const setup_store_;
  std::vector<std::vector<uint64_t>> images_;  // words, for they are aligned
  std::unique_ptr<primitives::NodeArena> arena_;
  uint64_t count_ = 0;
  uint64_t nodes_ = 0;  // offset of the first one
  std::vector<uint32_t> order_;
};

}  // namespace pmlsm::lab
