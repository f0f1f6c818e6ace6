// Persisters that need a pool, against a std::map: each with every layout, with one and with three published words a
// node. Then the same chain again, from another mapping.
#include "primitives/persister.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "pmem/test_dir.h"
#include "primitives/node_arena.h"
#include "primitives/node_test_support.h"
#include "primitives/test_pool.h"

namespace pmlsm::primitives {
namespace {

constexpr uint64_t kSeed = 8;
constexpr int kOperations = 3000;
constexpr uint64_t kFullNodes = 20;
template <typename Chain>
class PersisterTest : public testing::Test {};

template <typename Node>
using WithTransaction = NodeChain<Node, TransactionPersister>;
template <typename Node>
using WithIndividual = NodeChain<Node, IndividualPersister>;
template <typename Node>
using WithPmwcas = NodeChain<Node, PmwcasPersister>;

template <template <typename, typename, size_t> class Layout, size_t kBytes>
using Node = Layout<uint64_t, TestValue, kBytes>;
template <typename K, typename V, size_t kBytes>
using Sorted = SortedNode<K, V, kBytes>;
template <typename K, typename V, size_t kBytes>
using Unsorted = UnsortedNode<K, V, kBytes>;

using Chains =
    testing::Types<WithTransaction<Node<Sorted, 512>>, WithTransaction<Node<Unsorted, 512>>,
                   WithTransaction<Node<BitmapNode, 4096>>, WithTransaction<Node<IndirectionNode, 512>>,
                   WithTransaction<Node<IndirectionNode, 4096>>, WithTransaction<Node<HashingNode, 512>>,
                   WithTransaction<Node<CountedHashingNode, 512>>,  //
                   WithIndividual<Node<Sorted, 512>>, WithIndividual<Node<Unsorted, 512>>,
                   WithIndividual<Node<BitmapNode, 4096>>, WithIndividual<Node<IndirectionNode, 512>>,
                   WithIndividual<Node<IndirectionNode, 4096>>, WithIndividual<Node<HashingNode, 512>>,
                   WithIndividual<Node<CountedHashingNode, 512>>,  //
                   WithPmwcas<Node<Sorted, 512>>, WithPmwcas<Node<Unsorted, 512>>,
                   WithPmwcas<Node<BitmapNode, 512>>, WithPmwcas<Node<BitmapNode, 4096>>,
                   WithPmwcas<Node<IndirectionNode, 512>>, WithPmwcas<Node<IndirectionNode, 4096>>,
                   WithPmwcas<Node<HashingNode, 4096>>, WithPmwcas<Node<CountedHashingNode, 512>>>;

struct ChainName {
  template <typename Chain>
  static std::string GetName(int) {
    return std::string(Chain::Persister::kName) + "_" + Chain::Node::kName + "_" +
           std::to_string(Chain::Node::kNodeBytes);
  }
};
TYPED_TEST_SUITE(PersisterTest, Chains, ChainName);

TYPED_TEST(PersisterTest, ChainHoldsWhatAMapHoldsAndOpensAgain) {
  using Persister = typename TypeParam::Persister;
  printf("seed %lu\n", kSeed);
  TestDir dir;
  TestMap map;
  uint64_t free_nodes = 0;
  {
    std::unique_ptr<TestPool> pool;
    ASSERT_TRUE(TestPool::Open(dir.Sub("pool"), &pool).ok());
    NodeArena arena = pool->NewArena(TypeParam::Node::kNodeBytes);
    auto persister = pool->NewPersister<Persister>();
    TypeParam chain(pool->memory(), pool->head(), &arena, &persister);
    ASSERT_TRUE(chain.Create().ok());
    RandomOperations operations(&chain, kSeed, TypeParam::Node::kCapacity * kFullNodes);
    operations.Run(kOperations);
    map = operations.map();
    ExpectHolds(chain, map);
    EXPECT_GT(operations.moves, 0u);
    EXPECT_GT(operations.balances, 10u);
    free_nodes = arena.free_nodes();
  }
  std::unique_ptr<TestPool> pool;
  ASSERT_TRUE(TestPool::Open(dir.Sub("pool"), &pool).ok());
  NodeArena arena = pool->NewArena(TypeParam::Node::kNodeBytes);
  auto persister = pool->NewPersister<Persister>();
  TypeParam chain(pool->memory(), pool->head(), &arena, &persister);
  ASSERT_TRUE(chain.Recover(pool->store()).ok());
  ExpectHolds(chain, map);
  EXPECT_EQ(arena.free_nodes(), free_nodes);
}

}  // namespace
}  // namespace pmlsm::primitives
