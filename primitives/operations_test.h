// Operations on nodes against a std::map: every layout in every size, in place (nodes in DRAM) and by copies that take
// a node's place (8-byte atomic stores). A file a layout instantiates it: all in one take a compiler minutes.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "pmem/store.h"
#include "primitives/node_arena.h"
#include "primitives/node_test_support.h"
#include "primitives/persister.h"

namespace pmlsm::primitives {

inline constexpr uint64_t kSeed = 21;
inline constexpr int kOperations = 6000;
inline constexpr uint32_t kNodes = 60;
inline constexpr uint64_t kFullNodes = 20;  // what the keys would fill

template <typename Node>
class OperationsTest : public testing::Test {
 protected:
  template <typename Persister>
  void RunAgainstMap(Persister* persister) {
    printf("seed %lu\n", kSeed);
    NodeArena arena(memory(), Node::kNodeBytes);
    arena.AddGroup(kLineBytes, kNodes * Node::kNodeBytes);  // no node is at 0, the null
    uint64_t head = 0;
    NodeChain<Node, Persister> chain(memory(), &head, &arena, persister);
    ASSERT_TRUE(chain.Create().ok());
    RandomOperations operations(&chain, kSeed, Node::kCapacity * kFullNodes);
    for (int round = 0; round < 20; ++round) {
      operations.Run(kOperations / 20);
      ExpectHolds(chain, operations.map());
    }
    EXPECT_GT(operations.inserts, 1000u);
    EXPECT_GT(operations.erases, 500u);
    EXPECT_GT(operations.moves, 0u);
    EXPECT_EQ(operations.copies > 0, Node::kPositionsStay);
    EXPECT_GT(operations.balances, 10u);
    EXPECT_GT(operations.merges, 0u);

    // Nothing is lost: what the chain does not use is free.
    uint64_t used = 0;
    for (auto* node = chain.first(); node != nullptr; node = chain.next(node)) ++used;
    EXPECT_EQ(arena.free_nodes(), arena.nodes() - used);
    PersistCounters counters;
    Store store(Medium::kTmpfs, &counters);
    ASSERT_TRUE(chain.Recover(&store).ok());
    EXPECT_EQ(arena.free_nodes(), arena.nodes() - used);
    ExpectHolds(chain, operations.map());
  }

  char* memory() { return reinterpret_cast<char*>(memory_.data()); }

 private:
  struct alignas(kLineBytes) Line {
    char bytes[kLineBytes];
  };
  // Not zero: a node is what is written to it, not what it was.
  std::vector<Line> memory_ = [] {
    std::vector<Line> lines(kNodes * Node::kNodeBytes / kLineBytes + 1);
    memset(static_cast<void*>(lines.data()), 0xa5, lines.size() * sizeof(Line));
    return lines;
  }();
};

TYPED_TEST_SUITE_P(OperationsTest);

TYPED_TEST_P(OperationsTest, InPlaceHoldWhatAMapHolds) {
  MemoryPersister persister;
  this->RunAgainstMap(&persister);
}

TYPED_TEST_P(OperationsTest, PublishedByOneWordHoldWhatAMapHolds) {
  PersistCounters counters;
  Store store(Medium::kTmpfs, &counters);
  AtomicPersister persister(&store);
  this->RunAgainstMap(&persister);
  EXPECT_GT(Read(counters).fences, 0u);
}

REGISTER_TYPED_TEST_SUITE_P(OperationsTest, InPlaceHoldWhatAMapHolds, PublishedByOneWordHoldWhatAMapHolds);

struct SizeName {
  template <typename Node>
  static std::string GetName(int i) {
    return std::to_string(Node::kNodeBytes) + "_" + std::to_string(i);
  }
};

}  // namespace pmlsm::primitives
