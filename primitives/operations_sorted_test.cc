#include "primitives/operations_test.h"
#include "primitives/sorted_node.h"

namespace pmlsm::primitives {
namespace {

using SortedNodes =
    testing::Types<SortedNode<uint64_t, TestValue, 256>, SortedNode<uint64_t, TestValue, 512>,
                   SortedNode<uint64_t, TestValue, 1024>, SortedNode<uint64_t, TestValue, 2048>,
                   SortedNode<uint64_t, TestValue, 4096>,
                   SortedNode<uint64_t, TestValue, 512, KeyPlace::kPacked>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Sorted, OperationsTest, SortedNodes, SizeName);

}  // namespace
}  // namespace pmlsm::primitives
