#include "primitives/operations_test.h"
#include "primitives/unsorted_node.h"

namespace pmlsm::primitives {
namespace {

using UnsortedNodes =
    testing::Types<UnsortedNode<uint64_t, TestValue, 256>, UnsortedNode<uint64_t, TestValue, 512>,
                   UnsortedNode<uint64_t, TestValue, 1024>, UnsortedNode<uint64_t, TestValue, 2048>,
                   UnsortedNode<uint64_t, TestValue, 4096>,
                   UnsortedNode<uint64_t, TestValue, 512, KeyPlace::kPacked>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Unsorted, OperationsTest, UnsortedNodes, SizeName);

}  // namespace
}  // namespace pmlsm::primitives
