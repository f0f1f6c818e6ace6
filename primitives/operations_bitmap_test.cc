#include "primitives/bitmap_node.h"
#include "primitives/operations_test.h"

namespace pmlsm::primitives {
namespace {

using BitmapNodes =
    testing::Types<BitmapNode<uint64_t, TestValue, 256>, BitmapNode<uint64_t, TestValue, 512>,
                   BitmapNode<uint64_t, TestValue, 1024>, BitmapNode<uint64_t, TestValue, 2048>,
                   BitmapNode<uint64_t, TestValue, 4096>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Bitmap, OperationsTest, BitmapNodes, SizeName);

}  // namespace
}  // namespace pmlsm::primitives
