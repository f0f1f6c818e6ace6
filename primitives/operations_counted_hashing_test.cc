#include "primitives/counted_hashing_node.h"
#include "primitives/operations_test.h"

namespace pmlsm::primitives {
namespace {

using CountedHashingNodes =
    testing::Types<CountedHashingNode<uint64_t, TestValue, 256>, CountedHashingNode<uint64_t, TestValue, 512>,
                   CountedHashingNode<uint64_t, TestValue, 1024>,
                   CountedHashingNode<uint64_t, TestValue, 2048>,
                   CountedHashingNode<uint64_t, TestValue, 4096>>;
INSTANTIATE_TYPED_TEST_SUITE_P(CountedHashing, OperationsTest, CountedHashingNodes, SizeName);

}  // namespace
}  // namespace pmlsm::primitives
