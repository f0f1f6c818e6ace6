// What operations on nodes of 1 KiB cost, by layout and means of failure atomicity: against a checked-in table, so that
// a lost fence fails a test, and an extra one too. After a change that is meant, put the printed table into
// node_persist_counts.txt.
#include <gtest/gtest.h>

#include <cinttypes>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>

#include "pmem/hooks/counting_hooks.h"
#include "pmem/store.h"
#include "primitives/balance.h"
#include "primitives/bitmap_node.h"
#include "primitives/counted_hashing_node.h"
#include "primitives/erase.h"
#include "primitives/hashing_node.h"
#include "primitives/indirection_node.h"
#include "primitives/insert.h"
#include "primitives/merge_nodes.h"
#include "primitives/node_chain.h"
#include "primitives/persister.h"
#include "primitives/sorted_node.h"
#include "primitives/split.h"
#include "primitives/test_pool.h"
#include "primitives/unsorted_node.h"
#include "test/crash/forked_run.h"

namespace pmlsm::crash {
namespace {

using namespace primitives;  // NOLINT: a test of nearly all of it

constexpr char kTableFile[] = "test/crash/node_persist_counts.txt";
constexpr size_t kNodeBytes = 1024;

struct PairValue {
  uint64_t words[2];
};

// A chain in a pool of its own; keys 2, 4, ... in order.
template <typename Node, typename Persister>
class Bench {
 public:
  using Chain = NodeChain<Node, Persister>;

  Bench() {
    EXPECT_TRUE(TestPool::Open(scratch_.path() + "/pool", &pool_).ok());
    arena_ = std::make_unique<NodeArena>(pool_->NewArena(Node::kNodeBytes));
    persister_.reset(new Persister(pool_->template NewPersister<Persister>()));
    chain_ = std::make_unique<Chain>(pool_->memory(), pool_->head(), arena_.get(), persister_.get());
    EXPECT_TRUE(chain_->Create().ok());
  }

  Chain* chain() { return chain_.get(); }
  // `count` entries in the first node.
  void Fill(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) Insert(chain_->first(), 2 * i + 2);
  }
  // Into the node, so that what earlier operations left to the next fence is not counted with the next one.
  void Insert(Node* node, uint64_t key) { EXPECT_TRUE(InsertEntry(chain(), &node, key, PairValue{}).ok()); }
  // Two nodes with half of the entries each, one more in the left one.
  void FillTwo() {
    Fill(Node::kCapacity);
    Node* left = chain_->first();
    Node* right = nullptr;
    EXPECT_TRUE(SplitByMove(chain(), &left, &right).ok());
    Insert(left, 1);
  }

  std::string Row(const char* operation, const std::function<Status()>& run) {
    EXPECT_TRUE(pool_->store()->Fence().ok());  // a Store hands its sums over in a fence
    const uint64_t bytes_before = Read(pool_->counters()).bytes_modified;
    uint64_t lines = 0;
    uint64_t fences = 0;
    {
      const CountingHooks hooks;
      EXPECT_TRUE(run().ok());
      lines = hooks.lines();
      fences = hooks.fences();
    }
    EXPECT_TRUE(pool_->store()->Fence().ok());
    const uint64_t bytes = Read(pool_->counters()).bytes_modified - bytes_before;
    char row[160];
    snprintf(row, sizeof(row), "%-15s %-11s %-15s %6" PRIu64 " %6" PRIu64 " %6" PRIu64 "\n", Node::kName,
             Persister::kName, operation, bytes, lines, fences);
    return row;
  }

 private:
  const ScratchDirectory scratch_;
  std::unique_ptr<TestPool> pool_;
  std::unique_ptr<NodeArena> arena_;
  std::unique_ptr<Persister> persister_;
  std::unique_ptr<Chain> chain_;
};

template <typename Node, typename Persister>
std::string InsertAndEraseRows(const char* where, uint64_t key) {
  Bench<Node, Persister> bench;
  bench.Fill(Node::kCapacity - 1);
  Node* node = bench.chain()->first();
  std::string rows = bench.Row((std::string("insert_") + where).c_str(),
                               [&] { return InsertEntry(bench.chain(), &node, key, PairValue{}); });
  return rows + bench.Row((std::string("erase_") + where).c_str(),
                          [&] { return EraseEntry(bench.chain(), &node, node->Find(key)); });
}

template <typename Node, typename Persister>
std::string Rows() {
  std::string rows = InsertAndEraseRows<Node, Persister>("first", 1);
  rows += InsertAndEraseRows<Node, Persister>("last", 2 * Node::kCapacity);
  {
    Bench<Node, Persister> bench;
    bench.Fill(Node::kCapacity);
    Node* node = bench.chain()->first();
    Node* right = nullptr;
    rows += bench.Row("split_by_move", [&] { return SplitByMove(bench.chain(), &node, &right); });
  }
  if constexpr (Node::kPositionsStay) {
    Bench<Node, Persister> bench;
    bench.Fill(Node::kCapacity);
    Node* node = bench.chain()->first();
    Node* right = nullptr;
    rows += bench.Row("split_by_copy", [&] { return SplitByCopy(bench.chain(), &node, &right); });
  }
  {
    Bench<Node, Persister> bench;
    bench.FillTwo();
    Node* left = bench.chain()->first();
    Node* right = bench.chain()->next(left);
    rows += bench.Row("balance_quarter", [&] {
      return BalanceNodes(bench.chain(), &left, &right, Towards::kLeft, right->Count() / 4);
    });
  }
  {
    Bench<Node, Persister> bench;
    bench.FillTwo();
    Node* left = bench.chain()->first();
    EXPECT_TRUE(EraseEntry(bench.chain(), &left, left->Find(1)).ok());
    rows += bench.Row("merge", [&] { return MergeNodes(bench.chain(), &left, bench.chain()->next(left)); });
  }
  return rows;
}

template <typename Node>
std::string RowsOfAllPersisters() {
  return Rows<Node, TransactionPersister>() + Rows<Node, IndividualPersister>() +
         Rows<Node, AtomicPersister>() + Rows<Node, PmwcasPersister>();
}

TEST(NodePersistCountTest, OperationsCostWhatTheTableSays) {
  std::string table =
      "# Bytes that the operation stores, without libpmemobj's logs; 64 B lines and fences that libpmem was "
      "asked for,\n"
      "# with them. Full nodes of 1 KiB; links back, which the next fence takes along, are not in lines. "
      "Erase undoes the insert.\n"
      "# layout        persister   operation        bytes  lines fences\n";
  table += RowsOfAllPersisters<SortedNode<uint64_t, PairValue, kNodeBytes>>();
  table += RowsOfAllPersisters<UnsortedNode<uint64_t, PairValue, kNodeBytes>>();
  table += RowsOfAllPersisters<BitmapNode<uint64_t, PairValue, kNodeBytes>>();
  table += RowsOfAllPersisters<IndirectionNode<uint64_t, PairValue, kNodeBytes>>();
  table += RowsOfAllPersisters<HashingNode<uint64_t, PairValue, kNodeBytes>>();
  table += RowsOfAllPersisters<CountedHashingNode<uint64_t, PairValue, kNodeBytes>>();
  std::ostringstream expected;
  expected << std::ifstream(kTableFile).rdbuf();
  EXPECT_EQ(expected.str(), table);
  if (expected.str() != table) printf("%s is now:\n%s", kTableFile, table.c_str());
}

}  // namespace
}  // namespace pmlsm::crash
