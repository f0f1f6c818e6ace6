// A HybridTree against a std::map, end to end: in a pool, with leaves of every layout and by every means of failure
// atomicity, inner nodes in DRAM and in PMem, through growth and shrinking, closed and opened again.
#include "primitives/hybrid_tree.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "pmem/test_dir.h"
#include "primitives/dram_memory.h"
#include "primitives/manual_persister.h"
#include "primitives/node_test_support.h"
#include "primitives/test_pool.h"

namespace pmlsm::primitives {
namespace {

constexpr uint64_t kSeed = 31;
constexpr int kOperations = 20000;
constexpr uint64_t kKeys = 3000;
constexpr size_t kBytes = 256;  // so that a few thousand keys make a tree of three levels

template <typename LeafType, typename PersisterType, bool kInDram>
struct Setting {
  using Leaf = LeafType;
  using Persister = PersisterType;
  static constexpr bool kInnersInDram = kInDram;
};

// A tree in a pool, opened.
template <typename SettingType>
class OpenTree {
 public:
  using Leaf = typename SettingType::Leaf;
  using Persister = typename SettingType::Persister;
  using InnerPersister = std::conditional_t<SettingType::kInnersInDram, MemoryPersister, ManualPersister>;
  using Chain = NodeChain<Leaf, Persister>;
  using Inners = InnerLevels<uint64_t, InnerPersister, kBytes>;
  using Tree = HybridTree<Chain, Inners>;

  explicit OpenTree(const std::string& directory) {
    EXPECT_TRUE(TestPool::Open(directory, &pool_).ok());
    leaves_ = std::make_unique<NodeArena>(pool_->NewArena(kBytes));
    persister_.reset(new Persister(pool_->template NewPersister<Persister>()));
    chain_ = std::make_unique<Chain>(pool_->memory(), pool_->head(), leaves_.get(), persister_.get());
    if constexpr (SettingType::kInnersInDram) {
      in_dram_ = std::make_unique<NodeArena>(dram_.NewArena(kBytes));
      inner_persister_ = std::make_unique<InnerPersister>();
      inners_ = std::make_unique<Inners>(dram_.memory(), in_dram_.get(), inner_persister_.get());
    } else {
      // In PMem they share the leaves' groups; recovery finds their nodes free.
      inner_persister_ = std::make_unique<InnerPersister>(pool_->store());
      inners_ = std::make_unique<Inners>(pool_->memory(), leaves_.get(), inner_persister_.get());
    }
    tree_ = std::make_unique<Tree>(chain_.get(), leaves_.get(), inners_.get());
    const Status status = *pool_->head() == 0 ? tree_->Create() : tree_->Recover(pool_->store());
    EXPECT_TRUE(status.ok()) << status.ToString();
  }

  Tree* operator->() { return tree_.get(); }

  void ExpectEquals(const TestMap& map) {
    auto expected = map.begin();
    uint64_t count = 0;
    tree_->ForEach([&](uint64_t key, const TestValue& value) {
      ASSERT_TRUE(expected != map.end());
      EXPECT_EQ(key, expected->first);
      EXPECT_TRUE(value == expected->second);
      ++expected;
      ++count;
    });
    EXPECT_EQ(count, map.size());
    for (uint64_t key = 0; key < kKeys; ++key) {
      const auto wanted = map.find(key);
      const TestValue* const found = tree_->Find(key);
      ASSERT_EQ(found != nullptr, wanted != map.end()) << key;
      if (found != nullptr) {
        EXPECT_TRUE(*found == wanted->second) << key;
      }
    }
  }

 private:
  DramMemory dram_;
  std::unique_ptr<TestPool> pool_;
  std::unique_ptr<NodeArena> leaves_;
  std::unique_ptr<NodeArena> in_dram_;
  std::unique_ptr<Persister> persister_;
  std::unique_ptr<InnerPersister> inner_persister_;
  std::unique_ptr<Chain> chain_;
  std::unique_ptr<Inners> inners_;
  std::unique_ptr<Tree> tree_;
};

template <typename SettingType>
class HybridTreeTest : public testing::Test {
 protected:
  // Mostly inserts, then mostly erases, then inserts again.
  void Run(OpenTree<SettingType>* tree, int from, int to) {
    for (int i = from; i < to && !HasFailure(); ++i) {
      const uint64_t key = random_.Uniform(kKeys);
      const bool growing = i / (kOperations / 4) != 2;
      bool done = false;
      if (random_.Uniform(4) < (growing ? 3u : 1u)) {
        const TestValue value = ValueOf(random_.Next());
        ASSERT_TRUE((*tree)->Insert(key, value, &done).ok());
        ASSERT_EQ(done, map_.emplace(key, value).second) << key;
      } else {
        ASSERT_TRUE((*tree)->Erase(key, &done).ok());
        ASSERT_EQ(done, map_.erase(key) == 1) << key;
      }
      deepest_ = std::max(deepest_, (*tree)->inners().depth());
    }
  }

  Random random_{kSeed};
  TestMap map_;
  int deepest_ = 0;
};

template <template <typename, typename, size_t> class Layout>
using Node = Layout<uint64_t, TestValue, kBytes>;
template <typename K, typename V, size_t kNodeBytes>
using Sorted = SortedNode<K, V, kNodeBytes>;
template <typename K, typename V, size_t kNodeBytes>
using Unsorted = UnsortedNode<K, V, kNodeBytes>;

using Settings = testing::Types<
    Setting<Node<Sorted>, AtomicPersister, true>, Setting<Node<Unsorted>, AtomicPersister, true>,
    Setting<Node<BitmapNode>, AtomicPersister, true>, Setting<Node<IndirectionNode>, AtomicPersister, true>,
    Setting<Node<HashingNode>, AtomicPersister, true>,
    Setting<Node<CountedHashingNode>, AtomicPersister, true>,
    Setting<Node<HashingNode>, TransactionPersister, true>,
    Setting<Node<IndirectionNode>, IndividualPersister, true>,
    Setting<Node<HashingNode>, PmwcasPersister, true>, Setting<Node<HashingNode>, AtomicPersister, false>,
    Setting<Node<Sorted>, PmwcasPersister, false>>;

struct SettingName {
  template <typename SettingType>
  static std::string GetName(int) {
    return std::string(SettingType::Leaf::kName) + "_" + SettingType::Persister::kName +
           (SettingType::kInnersInDram ? "_dram" : "_pmem");
  }
};
TYPED_TEST_SUITE(HybridTreeTest, Settings, SettingName);

TYPED_TEST(HybridTreeTest, HoldsWhatAMapHoldsAndOpensAgain) {
  printf("seed %lu\n", kSeed);
  const TestDir dir;
  for (int part = 0; part < 4; ++part) {
    OpenTree<TypeParam> tree(dir.Sub("pool"));
    tree.ExpectEquals(this->map_);
    this->Run(&tree, part * kOperations / 4, (part + 1) * kOperations / 4);
    tree.ExpectEquals(this->map_);
  }
  EXPECT_GE(this->deepest_, 3);
}

// All keys of many leaves go: the leaves do, too, and the tree goes on.
TYPED_TEST(HybridTreeTest, EmptiesAndFillsAgain) {
  const TestDir dir;
  OpenTree<TypeParam> tree(dir.Sub("pool"));
  for (int round = 0; round < 2; ++round) {
    bool done = false;
    for (uint64_t key = kKeys; key-- > 0;) {
      ASSERT_TRUE(tree->Insert(key, ValueOf(key), &done).ok());
      ASSERT_TRUE(done);
      this->map_[key] = ValueOf(key);
    }
    tree.ExpectEquals(this->map_);
    for (uint64_t key = 0; key < kKeys; ++key) ASSERT_TRUE(tree->Erase(key, &done).ok() && done) << key;
    this->map_.clear();
    tree.ExpectEquals(this->map_);
  }
}

TEST(HybridTreeInsertTest, OfAKeyThatIsThereNothingChanges) {
  using Chosen = Setting<Node<HashingNode>, AtomicPersister, true>;
  const TestDir dir;
  OpenTree<Chosen> tree(dir.Sub("pool"));
  bool done = false;
  ASSERT_TRUE(tree->Insert(7, ValueOf(1), &done).ok());
  ASSERT_TRUE(tree->Insert(7, ValueOf(2), &done).ok());
  EXPECT_FALSE(done);
  EXPECT_TRUE(*tree->Find(7) == ValueOf(1));
  ASSERT_TRUE(tree->Erase(8, &done).ok());
  EXPECT_FALSE(done);
}

}  // namespace
}  // namespace pmlsm::primitives
