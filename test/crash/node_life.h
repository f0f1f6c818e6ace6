// NodeLife: a chain of nodes under power failures: inserts and erases of keys, splits, balances and merges between
// them, and recovery from an image, itself interrupted. For a layout and a persister.
//
// Thread safety: free functions, each in a process of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "primitives/balance.h"
#include "primitives/erase.h"
#include "primitives/insert.h"
#include "primitives/iterate.h"
#include "primitives/merge_nodes.h"
#include "primitives/node_chain.h"
#include "primitives/split.h"
#include "primitives/test_pool.h"
#include "test/crash/pool_lanes.h"
#include "test/crash/simulator.h"
#include "util/random.h"

namespace pmlsm::crash {

struct NodeValue {
  uint64_t words[2];
  bool operator==(const NodeValue& other) const {
    return words[0] == other.words[0] && words[1] == other.words[1];
  }
};

// What the program tells the checkers. Operations of the history; splits, balances and merges change no content.
struct NodeOracle {
  uint64_t created;
  uint64_t started;
  uint64_t acknowledged;
};

// Operation i inserts or erases a key, whichever is possible. It follows from i.
class NodeHistory {
 public:
  using Content = std::map<uint64_t, NodeValue>;

  // Keys from a range that `nodes` full nodes would fill.
  NodeHistory(uint64_t seed, uint32_t capacity, uint32_t nodes) : seed_(seed), keys_(capacity * nodes) {}

  uint64_t KeyOf(uint64_t operation) const { return Random(seed_ * 1000003 + operation).Next() % keys_; }
  static NodeValue ValueOf(uint64_t operation) { return {{operation, ~operation}}; }
  // Whether the key of the next operation is there: then it is erased.
  void Apply(uint64_t operation, Content* content) const {
    const uint64_t key = KeyOf(operation);
    if (content->erase(key) == 0) (*content)[key] = ValueOf(operation);
  }
  Content After(uint64_t operations) const {
    Content content;
    for (uint64_t i = 0; i < operations; ++i) Apply(i, &content);
    return content;
  }

 private:
  const uint64_t seed_;
  const uint64_t keys_;
};

template <typename Node, typename Persister>
class NodeLife {
 public:
  using Chain = primitives::NodeChain<Node, Persister>;

  NodeLife(const std::string& directory, const NodeHistory& history)
      : directory_(directory), history_(history) {}

  Status Open() {
    Status status = primitives::TestPool::Open(directory_ + "/pool", &pool_);
    if (!status.ok()) return status;
    arena_ = std::make_unique<primitives::NodeArena>(pool_->NewArena(Node::kNodeBytes));
    persister_.reset(new Persister(pool_->template NewPersister<Persister>()));
    chain_ = std::make_unique<Chain>(pool_->memory(), pool_->head(), arena_.get(), persister_.get());
    return *pool_->head() == 0 ? chain_->Create() : chain_->Recover(pool_->store());
  }
  void Close() {
    chain_.reset();
    persister_.reset();
    arena_.reset();
    pool_.reset();
  }

  // Operations [from, to), with a change of the chain's shape before every second one if `reshape`. set_phase is told
  // what comes.
  template <typename SetPhase>
  std::string Run(uint64_t from, uint64_t to, bool reshape, NodeOracle* oracle, const SetPhase& set_phase) {
    for (uint64_t i = from; i < to; ++i) {
      Status status = reshape && i % 2 == 0 ? Reshape(i / 2, set_phase) : Status::OK();
      const uint64_t key = history_.KeyOf(i);
      Node* node = NodeOf(key);
      const primitives::Position position = node->Find(key);
      if (status.ok() && position == primitives::kNoPosition && node->Count() == Node::kCapacity) {
        status = Split(i, node, set_phase);
        node = NodeOf(key);
      }
      if (!status.ok()) return status.ToString();
      oracle->started = i + 1;
      if (position == primitives::kNoPosition) {
        set_phase("insert");
        status = InsertEntry(chain_.get(), &node, key, NodeHistory::ValueOf(i));
      } else {
        set_phase("erase");
        status = EraseEntry(chain_.get(), &node, node->Find(key));
      }
      if (!status.ok()) return status.ToString();
      oracle->acknowledged = i + 1;
    }
    return "";
  }

  // Recover has looked at nodes and order.
  std::string CheckContent(const NodeHistory::Content& expected) const {
    NodeHistory::Content found;
    bool twice = false;
    ForEachEntry(*chain_, [&](uint64_t key, const NodeValue& value) {
      twice = twice || !found.emplace(key, value).second;
    });
    if (twice) return "a key is there twice";
    if (found != expected) {
      return std::to_string(found.size()) + " entries, not the " + std::to_string(expected.size()) +
             " expected";
    }
    uint64_t nodes = 0;
    const Node* before = nullptr;
    for (const Node* node = chain_->first(); node != nullptr; before = node, node = chain_->next(node)) {
      if (chain_->previous(node) != before) return "a link back is wrong";
      ++nodes;
    }
    return nodes + arena_->free_nodes() == arena_->nodes() ? "" : "a node is neither used nor free";
  }

 private:
  // The last node with a key that is not greater, or the first node.
  Node* NodeOf(uint64_t key) const {
    Node* found = chain_->first();
    for (Node* node = chain_->next(found); node != nullptr; node = chain_->next(node)) {
      bool reaches = false;
      node->ForEach([&](primitives::Position p) { reaches = reaches || node->keys[p] <= key; });
      if (reaches) found = node;
    }
    return found;
  }

  template <typename SetPhase>
  Status Split(uint64_t number, Node* node, const SetPhase& set_phase) {
    Node* right = nullptr;
    if constexpr (Node::kPositionsStay) {
      if (number % 2 == 0) {
        set_phase("split by copy");
        return SplitByCopy(chain_.get(), &node, &right);
      }
    }
    set_phase("split by move");
    return SplitByMove(chain_.get(), &node, &right);
  }

  // In turn: a split of the fullest node; a quarter of a node to its neighbour, to the left, to the right; a merge.
  template <typename SetPhase>
  Status Reshape(uint64_t number, const SetPhase& set_phase) {
    const uint64_t kind = number % 4;
    if (kind == 0) {
      Node* fullest = chain_->first();
      for (Node* node = fullest; node != nullptr; node = chain_->next(node)) {
        if (node->Count() > fullest->Count()) fullest = node;
      }
      return Split(number / 4, fullest, set_phase);
    }
    const bool to_left = kind == 1;
    for (Node* left = chain_->first(); chain_->next(left) != nullptr; left = chain_->next(left)) {
      Node* right = chain_->next(left);
      if (kind == 3) {
        if (left->Count() + right->Count() > Node::kCapacity) continue;
        set_phase("merge");
        return MergeNodes(chain_.get(), &left, right);
      }
      const uint32_t given = (to_left ? right : left)->Count();
      const uint32_t room = Node::kCapacity - (to_left ? left : right)->Count();
      const uint32_t count = std::min((given + 3) / 4, room);
      if (count == 0) continue;
      set_phase(to_left ? "balance to left" : "balance to right");
      return BalanceNodes(chain_.get(), &left, &right,
                          to_left ? primitives::Towards::kLeft : primitives::Towards::kRight, count);
    }
    return Status::OK();
  }

  const std::string directory_;
  const NodeHistory history_;
  std::unique_ptr<primitives::TestPool> pool_;
  std::unique_ptr<primitives::NodeArena> arena_;
  std::unique_ptr<Persister> persister_;
  std::unique_ptr<Chain> chain_;
};

// An image opens, holds what some number of operations between the acknowledged and the started leaves, opens again
// with the same, and takes further operations.
template <typename Node, typename Persister>
std::string CheckNodeImage(const NodeHistory& history, const std::string& directory, const NodeOracle& sure,
                           const NodeOracle& begun) {
  constexpr uint64_t kFurther = 6;
  NodeLife<Node, Persister> life(directory, history);
  Status status = life.Open();
  if (!status.ok()) return "does not open: " + status.ToString();
  std::string wrong = "nothing started";
  uint64_t done = sure.acknowledged;
  for (; done <= begun.started; ++done) {
    wrong = life.CheckContent(history.After(done));
    if (wrong.empty()) break;
  }
  if (!wrong.empty()) return wrong;
  NodeOracle further = {};
  wrong = life.Run(done, done + kFurther, true, &further, [](const char*) {});
  if (!wrong.empty()) return "takes no further operation: " + wrong;
  life.Close();
  status = life.Open();
  if (!status.ok()) return "does not open again: " + status.ToString();
  return life.CheckContent(history.After(done + kFurther));
}

}  // namespace pmlsm::crash
