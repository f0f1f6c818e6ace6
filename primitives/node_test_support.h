// For tests of operations on nodes: random ones on a chain, against a std::map, and what must hold of a chain.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <vector>

#include "primitives/balance.h"
#include "primitives/bitmap_node.h"
#include "primitives/counted_hashing_node.h"
#include "primitives/erase.h"
#include "primitives/hashing_node.h"
#include "primitives/indirection_node.h"
#include "primitives/insert.h"
#include "primitives/iterate.h"
#include "primitives/merge_nodes.h"
#include "primitives/sorted_node.h"
#include "primitives/split.h"
#include "primitives/unsorted_node.h"
#include "util/random.h"

namespace pmlsm::primitives {

// The paper's value.
struct TestValue {
  int32_t first;
  int32_t second;
  double third;
  bool operator==(const TestValue& other) const {
    return first == other.first && second == other.second && third == other.third;
  }
};
inline TestValue ValueOf(uint64_t number) {
  return {static_cast<int32_t>(number), static_cast<int32_t>(~number), static_cast<double>(number) / 3};
}

using TestMap = std::map<uint64_t, TestValue>;

// The chain holds what the map does, its nodes are sound, and its links go both ways.
template <typename Chain>
void ExpectHolds(const Chain& chain, const TestMap& map) {
  TestMap found;
  ForEachEntry(chain, [&](uint64_t key, const TestValue& value) {
    EXPECT_TRUE(found.emplace(key, value).second) << key << " is there twice";
  });
  EXPECT_TRUE(found == map) << found.size() << " entries, expected " << map.size();
  auto expected = map.begin();
  ForEachEntryInOrder(chain, [&](uint64_t key, const TestValue&) {
    ASSERT_TRUE(expected != map.end());
    EXPECT_EQ(key, expected->first);
    ++expected;
  });
  const typename Chain::Node* before = nullptr;
  for (const auto* node = chain.first(); node != nullptr; before = node, node = chain.next(node)) {
    EXPECT_TRUE(node->Check());
    EXPECT_EQ(chain.previous(node), before);
  }
}

// Random operations on a chain, and the map that it must be equal to.
template <typename Chain>
class RandomOperations {
 public:
  using Node = typename Chain::Node;

  RandomOperations(Chain* chain, uint64_t seed, uint64_t keys) : chain_(chain), random_(seed), keys_(keys) {}

  const TestMap& map() const { return map_; }
  // Of each kind, how often it was done.
  uint64_t inserts = 0, erases = 0, moves = 0, copies = 0, balances = 0, merges = 0;

  void Run(int count) {
    for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) Step();
  }

 private:
  void Step() {
    growing_ = random_.OneIn(400) ? !growing_ : growing_;
    const uint64_t kind = random_.Uniform(20);
    const uint64_t key = random_.Uniform(keys_);
    if (kind < 17) {
      random_.Uniform(4) < (growing_ ? 3u : 1u) ? Insert(key) : Erase(key);
    } else if (kind < 19) {
      Balance(NodeOf(key));
    } else {
      Merge(NodeOf(key));
    }
  }

  // The last node whose smallest key is not greater, or the first one.
  Node* NodeOf(uint64_t key) {
    Node* found = chain_->first();
    for (Node* node = chain_->next(found); node != nullptr; node = chain_->next(node)) {
      const auto lowest = Lowest(*node, node->Count() == 0 ? 0 : 1);
      if (lowest.size == 1 && key < node->keys[lowest.at[0]]) break;
      if (lowest.size == 1) found = node;
    }
    return found;
  }

  void Insert(uint64_t key) {
    if (map_.count(key) != 0) return;
    Node* node = NodeOf(key);
    if (node->Count() == Node::kCapacity) {
      Split(&node);
      node = NodeOf(key);
    }
    const TestValue value = ValueOf(random_.Next());
    ASSERT_TRUE(InsertEntry(chain_, &node, key, value).ok());
    const Position p = node->Find(key);
    ASSERT_NE(p, kNoPosition);
    EXPECT_TRUE(node->values[p] == value);
    map_[key] = value;
    ++inserts;
  }

  void Erase(uint64_t key) {
    Node* node = NodeOf(key);
    const Position p = node->Find(key);
    ASSERT_EQ(p != kNoPosition, map_.count(key) != 0);
    if (p == kNoPosition) return;
    ASSERT_TRUE(EraseEntry(chain_, &node, p).ok());
    EXPECT_EQ(node->Find(key), kNoPosition);
    map_.erase(key);
    ++erases;
  }

  void Split(Node** node) {
    Node* right = nullptr;
    const uint32_t count = (*node)->Count();
    bool copied = false;
    Status status;
    if constexpr (Node::kPositionsStay) {
      copied = random_.OneIn(2);
      if (copied) status = SplitByCopy(chain_, node, &right);
    }
    if (!copied) status = SplitByMove(chain_, node, &right);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ++(copied ? copies : moves);
    EXPECT_EQ((*node)->Count(), count - count / 2);
    EXPECT_EQ(right->Count(), count / 2);
    EXPECT_EQ(chain_->next(*node), right);
  }

  void Balance(Node* left) {
    Node* right = chain_->next(left);
    if (right == nullptr) return;
    const bool to_left = random_.OneIn(2);
    const uint32_t given = (to_left ? right : left)->Count();
    const uint32_t room = Node::kCapacity - (to_left ? left : right)->Count();
    const uint32_t most = std::min(given, room);
    if (most == 0) return;
    const auto count = static_cast<uint32_t>(1 + random_.Uniform(most));
    const uint32_t left_count = left->Count();
    ASSERT_TRUE(BalanceNodes(chain_, &left, &right, to_left ? Towards::kLeft : Towards::kRight, count).ok());
    EXPECT_EQ(left->Count(), to_left ? left_count + count : left_count - count);
    EXPECT_EQ(chain_->next(left), right);
    ++balances;
  }

  void Merge(Node* left) {
    Node* const right = chain_->next(left);
    if (right == nullptr || left->Count() + right->Count() > Node::kCapacity) return;
    Node* const after = chain_->next(right);
    ASSERT_TRUE(MergeNodes(chain_, &left, right).ok());
    EXPECT_EQ(chain_->next(left), after);
    ++merges;
  }

  Chain* const chain_;
  Random random_;
  const uint64_t keys_;
  bool growing_ = true;
  TestMap map_;
};

}  // namespace pmlsm::primitives
