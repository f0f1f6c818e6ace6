// Nodes survive power failures at any instant of insert, erase, split, balance and merge, in every layout, by every
// means of failure atomicity; and so does their recovery.
//
// Checks most instants of the first operation of each kind, and a few, drawn by a seed, of the others. All of them, and
// another draw:
//   bazel test //test/crash:node_crash_test --test_env=NODE_CRASH_ONE_IN=1 --test_env=NODE_CRASH_SEED=7
#include <gtest/gtest.h>
#include <libpmemobj.h>

#include <algorithm>
#include <cinttypes>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

#include "primitives/bitmap_node.h"
#include "primitives/counted_hashing_node.h"
#include "primitives/hashing_node.h"
#include "primitives/indirection_node.h"
#include "primitives/persister.h"
#include "primitives/sorted_node.h"
#include "primitives/unsorted_node.h"
#include "test/crash/forked_run.h"
#include "test/crash/node_life.h"
#include "test/crash/simulator.h"

namespace pmlsm::crash {
namespace {

using primitives::AtomicPersister;
using primitives::IndividualPersister;
using primitives::PmwcasPersister;
using primitives::TransactionPersister;

constexpr unsigned kRunSecondsMax = 300;
constexpr uint64_t kLanes = 16;
constexpr int kRecoveries = 1;
uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* const text = getenv(name);
  return text == nullptr ? otherwise : strtoull(text, nullptr, 10);
}
uint64_t Seed() { return FromEnvironment("NODE_CRASH_SEED", 3); }

// Nodes that the keys would fill: half of them are there at any time.
constexpr uint32_t kNodes = 6;

template <template <typename, typename, size_t> class Layout, size_t kBytes, typename PersisterType>
struct Run {
  using Node = Layout<uint64_t, NodeValue, kBytes>;
  using Persister = PersisterType;
};
template <typename K, typename V, size_t kBytes>
using SortedNode = primitives::SortedNode<K, V, kBytes>;
template <typename K, typename V, size_t kBytes>
using UnsortedNode = primitives::UnsortedNode<K, V, kBytes>;
using primitives::BitmapNode;
using primitives::CountedHashingNode;
using primitives::HashingNode;
using primitives::IndirectionNode;

template <typename RunType>
class NodeCrashTest : public testing::Test {
 protected:
  using Node = typename RunType::Node;
  using Persister = typename RunType::Persister;
  using Life = NodeLife<Node, Persister>;

  // Of PMDK's fences there are many an operation; without PMDK, flushes are instants, too.
  static constexpr bool kLogged = std::is_base_of_v<primitives::LoggedPersister, Persister>;
  static constexpr uint64_t kFirstOneIn = 2;
  static uint64_t OneIn() { return FromEnvironment("NODE_CRASH_ONE_IN", kLogged ? 24 : 12); }
  // Filled while the power does not fail, so that what follows meets nodes that have to be split and merged.
  static constexpr uint64_t kBefore = Node::kCapacity * kNodes;
  static constexpr uint64_t kOperations = kBefore + 24;

  static const NodeHistory& history() {
    static const NodeHistory history(Seed(), Node::kCapacity, kNodes);
    return history;
  }

  static Simulator* Start(Plan plan, Report* report) {
    plan.seed = Seed();
    plan.at_flushes = !kLogged;
    int shutdown_state = 0;  // as in the DB's runs: an image costs less
    CHECK(pmemobj_ctl_set(nullptr, "sds.at_create", &shutdown_state) == 0);
    LimitLanes(kLanes);
    return Simulator::Start(
        plan, sizeof(NodeOracle),
        [](const std::string& directory, const void* before, const void* after) {
          return CheckNodeImage<Node, Persister>(history(), directory,
                                                 *static_cast<const NodeOracle*>(before),
                                                 *static_cast<const NodeOracle*>(after));
        },
        report);
  }

  static std::string RunLife(const Plan& plan, Report* report) {
    Simulator* const simulator = Start(plan, report);
    auto* const oracle = static_cast<NodeOracle*>(simulator->oracle());
    Life life(plan.LiveDirectory(), history());
    Status status = life.Open();
    if (status.ok()) {
      life.Close();
      SetLanes(plan.LiveDirectory() + "/pool/parts/000000.pmem", kLanes);
      status = life.Open();
    }
    if (!status.ok()) return status.ToString();
    std::string wrong = life.Run(0, kBefore, false, oracle, [](const char*) {});
    if (!wrong.empty()) return wrong;
    std::set<std::string> seen;
    wrong = life.Run(kBefore, kOperations, true, oracle, [&](const char* name) {
      const bool first = seen.insert(name).second;
      simulator->SetPhase(name, first ? std::min(kFirstOneIn, OneIn()) : OneIn());
    });
    if (wrong.empty()) wrong = life.CheckContent(history().After(kOperations));
    simulator->Finish();
    return wrong;
  }

  static std::string RunRecovery(const Plan& plan, const std::string& kept, Report* report) {
    Simulator* const simulator = Start(plan, report);
    auto* const oracle = static_cast<NodeOracle*>(simulator->oracle());
    NodeOracle after = {};
    std::ifstream(kept + kKeptOracleBefore, std::ios::binary)
        .read(reinterpret_cast<char*>(oracle), sizeof(*oracle));
    std::ifstream(kept + kKeptOracleAfter, std::ios::binary)
        .read(reinterpret_cast<char*>(&after), sizeof(after));
    oracle->started = after.started;
    simulator->SetPhase("recovery", 1);
    Life life(plan.LiveDirectory(), history());
    const Status status = life.Open();
    simulator->Finish();
    return status.ok() ? "" : status.ToString();
  }

  static void ExpectPassed(const Report& report, const char* what, ScratchDirectory* scratch) {
    EXPECT_EQ(report.failures, 0u) << what << ": " << report.first_failure;
    EXPECT_TRUE(report.finished);
    EXPECT_EQ(report.strangers, 0u);
    if (report.failures != 0) scratch->Keep();
    for (int i = 0; i < report.phases; ++i) {
      if (report.phase[i].points == 0) continue;
      printf("  %-16s %5" PRIu64 " power failures %6" PRIu64 " images\n", report.phase[i].name,
             report.phase[i].points, report.phase[i].images);
    }
  }
};

// Most layouts publish one word a node; of 4 KiB, those with a bitmap publish three.
using Runs = testing::Types<
    Run<SortedNode, 256, TransactionPersister>, Run<SortedNode, 256, IndividualPersister>,
    Run<SortedNode, 256, AtomicPersister>, Run<SortedNode, 256, PmwcasPersister>,  //
    Run<UnsortedNode, 256, TransactionPersister>, Run<UnsortedNode, 256, IndividualPersister>,
    Run<UnsortedNode, 256, AtomicPersister>, Run<UnsortedNode, 256, PmwcasPersister>,  //
    Run<BitmapNode, 256, TransactionPersister>, Run<BitmapNode, 256, IndividualPersister>,
    Run<BitmapNode, 256, AtomicPersister>, Run<BitmapNode, 256, PmwcasPersister>,
    Run<BitmapNode, 4096, PmwcasPersister>,  //
    Run<IndirectionNode, 256, TransactionPersister>, Run<IndirectionNode, 256, IndividualPersister>,
    Run<IndirectionNode, 256, AtomicPersister>, Run<IndirectionNode, 256, PmwcasPersister>,
    Run<IndirectionNode, 4096, AtomicPersister>, Run<IndirectionNode, 4096, PmwcasPersister>,  //
    Run<HashingNode, 256, TransactionPersister>, Run<HashingNode, 256, IndividualPersister>,
    Run<HashingNode, 256, AtomicPersister>, Run<HashingNode, 256, PmwcasPersister>,  //
    Run<CountedHashingNode, 256, TransactionPersister>, Run<CountedHashingNode, 256, IndividualPersister>,
    Run<CountedHashingNode, 256, AtomicPersister>, Run<CountedHashingNode, 256, PmwcasPersister>>;

struct RunName {
  template <typename RunType>
  static std::string GetName(int) {
    return std::string(RunType::Node::kName) + "_" + std::to_string(RunType::Node::kNodeBytes) + "_" +
           RunType::Persister::kName;
  }
};
TYPED_TEST_SUITE(NodeCrashTest, Runs, RunName);

TYPED_TEST(NodeCrashTest, SurvivesPowerFailuresAtAnyInstantAndInRecovery) {
  ScratchDirectory scratch;
  Plan plan;
  plan.scratch = scratch.path();
  plan.captures = kRecoveries;
  const Report life =
      RunForked(kRunSecondsMax, [&](Report* report) { return TestFixture::RunLife(plan, report); });
  this->ExpectPassed(life, "life", &scratch);
  for (const char* const phase :
       {"insert", "erase", "split by move", "balance to left", "balance to right", "merge"}) {
    uint64_t images = 0;
    for (int i = 0; i < life.phases; ++i) {
      if (life.phase[i].name == std::string(phase)) images = life.phase[i].images;
    }
    EXPECT_GT(images, 0u) << phase;
  }
  for (int i = 0; i < life.captured; ++i) {
    ScratchDirectory recovery;
    Plan next;
    next.scratch = recovery.path();
    const std::string kept = plan.CaptureDirectory(i);
    next.start = kept + kKeptImageDirectory;
    const Report report = RunForked(
        kRunSecondsMax, [&](Report* shared) { return TestFixture::RunRecovery(next, kept, shared); });
    this->ExpectPassed(report, "recovery", &recovery);
  }
}

}  // namespace
}  // namespace pmlsm::crash
