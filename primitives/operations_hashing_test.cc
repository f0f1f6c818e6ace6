#include "primitives/hashing_node.h"
#include "primitives/operations_test.h"

namespace pmlsm::primitives {
namespace {

using HashingNodes =
    testing::Types<HashingNode<uint64_t, TestValue, 256>, HashingNode<uint64_t, TestValue, 512>,
                   HashingNode<uint64_t, TestValue, 1024>, HashingNode<uint64_t, TestValue, 2048>,
                   HashingNode<uint64_t, TestValue, 4096>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Hashing, OperationsTest, HashingNodes, SizeName);

}  // namespace
}  // namespace pmlsm::primitives
