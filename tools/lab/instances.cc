#include "tools/lab/instances.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "util/check.h"
#include "util/random.h"

namespace pmlsm::lab {

constexpr uint64_t kPageBytes = 4096;

Instances::Instances(Lab* lab, Placement placement, const Shape& shape, const Fill& fill)
    : region_(lab->region(placement)), shape_(shape), setup_store_(lab->setup_store()) {
  const uint64_t image_words = shape.nodes * shape.node_bytes / sizeof(uint64_t);
  // Nodes are aligned to lines; a copy of one line more has room for that.
  for (uint64_t i = 0; i < kImages; ++i) {
    images_.emplace_back(image_words + primitives::kLineBytes / sizeof(uint64_t));
    void* aligned = images_.back().data();
    size_t space = images_.back().size() * sizeof(uint64_t);
    CHECK(std::align(primitives::kLineBytes, shape.nodes * shape.node_bytes, aligned, space) != nullptr);
    fill(i, aligned);
    memmove(images_.back().data(), aligned, shape.nodes * shape.node_bytes);
  }
  const uint64_t bytes_each = primitives::kLineBytes + (shape.nodes + shape.spare_nodes) * shape.node_bytes;
  count_ = std::min(shape.count_max, (region_.bytes - kPageBytes) / bytes_each);
  CHECK(count_ > 0);
  const uint64_t heads_end = region_.begin + count_ * primitives::kLineBytes;
  nodes_ = (heads_end + kPageBytes - 1) / kPageBytes * kPageBytes;
  Random random(lab->config().seed);
  for (uint64_t i = 0; i < count_; ++i) order_.push_back(static_cast<uint32_t>(i));
  for (uint64_t i = count_; i > 1; --i) std::swap(order_[i - 1], order_[random.Uniform(i)]);
  Reset();
}

void Instances::Reset() {
  arena_ = std::make_unique<primitives::NodeArena>(region_.base, shape_.node_bytes);
  arena_->AddGroup(nodes_, count_ * (shape_.nodes + shape_.spare_nodes) * shape_.node_bytes);
  for (uint32_t i = 0; i < count_; ++i) {
    // The chains' own nodes are the arena's, too: operations free some. It gives out the first ones first.
    for (uint64_t n = 0; n < shape_.nodes; ++n) {
      uint64_t offset = 0;
      CHECK(arena_->Allocate(&offset).ok() && offset == NodeOffset(i, n));
    }
    setup_store_->Store8(head(i), NodeOffset(i, 0));
    char* const image = reinterpret_cast<char*>(images_[ImageOf(i)].data());
    for (uint64_t n = 0; n < shape_.nodes; ++n) {
      char* const node = image + n * shape_.node_bytes;
      primitives::Siblings siblings = {};
      siblings.next.offset = n + 1 < shape_.nodes ? NodeOffset(i, n + 1) : 0;
      siblings.previous.offset = n > 0 ? NodeOffset(i, n - 1) : 0;
      memcpy(node + shape_.siblings_offset, &siblings, sizeof(siblings));
    }
    setup_store_->Copy(region_.base + NodeOffset(i, 0), image, shape_.nodes * shape_.node_bytes);
  }
}

}  // namespace pmlsm::lab
