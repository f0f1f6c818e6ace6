#include "primitives/indirection_node.h"
#include "primitives/operations_test.h"

namespace pmlsm::primitives {
namespace {

using IndirectionNodes =
    testing::Types<IndirectionNode<uint64_t, TestValue, 256>, IndirectionNode<uint64_t, TestValue, 512>,
                   IndirectionNode<uint64_t, TestValue, 1024>, IndirectionNode<uint64_t, TestValue, 2048>,
                   IndirectionNode<uint64_t, TestValue, 4096>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Indirection, OperationsTest, IndirectionNodes, SizeName);

}  // namespace
}  // namespace pmlsm::primitives
