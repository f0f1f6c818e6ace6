// A HybridTree survives power failures at any instant of its inserts and erases, with the splits, balances and merges
// that they bring about, and of its recovery, which builds the inner nodes.
#include <gtest/gtest.h>
#include <libpmemobj.h>

#include <cinttypes>
#include <fstream>
#include <memory>
#include <string>
#include <type_traits>

#include "primitives/dram_memory.h"
#include "primitives/hashing_node.h"
#include "primitives/hybrid_tree.h"
#include "primitives/indirection_node.h"
#include "primitives/manual_persister.h"
#include "primitives/persister.h"
#include "primitives/sorted_node.h"
#include "test/crash/forked_run.h"
#include "test/crash/node_life.h"
#include "test/crash/simulator.h"

namespace pmlsm::crash {
namespace {

using namespace primitives;  // NOLINT: a tree of its parts

constexpr unsigned kRunSecondsMax = 300;
constexpr uint64_t kSeed = 7;
constexpr uint64_t kLanes = 16;
constexpr size_t kBytes = 256;
// Leaves that the keys would fill: with an inner level of two nodes, and so a root above it, at the fullest.
constexpr uint32_t kLeaves = 24;
constexpr uint64_t kBefore = 130;      // operations before the power may fail
constexpr uint64_t kOperations = 210;  // all of them
constexpr uint64_t kOneIn = 3;

template <typename LeafType, typename PersisterType, bool kInDram>
struct Setting {
  using Leaf = LeafType;
  using Persister = PersisterType;
  static constexpr bool kInnersInDram = kInDram;
};

template <typename SettingType>
class TreeLife {
 public:
  using Leaf = typename SettingType::Leaf;
  using Persister = typename SettingType::Persister;
  using InnerPersister = std::conditional_t<SettingType::kInnersInDram, MemoryPersister, ManualPersister>;
  using Chain = NodeChain<Leaf, Persister>;
  using Inners = InnerLevels<uint64_t, InnerPersister, kBytes>;
  using Tree = HybridTree<Chain, Inners>;

  TreeLife(const std::string& directory, const NodeHistory& history)
      : directory_(directory), history_(history) {}

  Status Open() {
    Status status = TestPool::Open(directory_ + "/pool", &pool_);
    if (!status.ok()) return status;
    leaves_ = std::make_unique<NodeArena>(pool_->NewArena(kBytes));
    persister_.reset(new Persister(pool_->template NewPersister<Persister>()));
    chain_ = std::make_unique<Chain>(pool_->memory(), pool_->head(), leaves_.get(), persister_.get());
    if constexpr (SettingType::kInnersInDram) {
      dram_ = std::make_unique<DramMemory>(kDramBytes);
      in_dram_ = std::make_unique<NodeArena>(dram_->NewArena(kBytes));
      inner_persister_ = std::make_unique<InnerPersister>();
      inners_ = std::make_unique<Inners>(dram_->memory(), in_dram_.get(), inner_persister_.get());
    } else {
      inner_persister_ = std::make_unique<InnerPersister>(pool_->store());
      inners_ = std::make_unique<Inners>(pool_->memory(), leaves_.get(), inner_persister_.get());
    }
    tree_ = std::make_unique<Tree>(chain_.get(), leaves_.get(), inners_.get());
    return *pool_->head() == 0 ? tree_->Create() : tree_->Recover(pool_->store());
  }
  void Close() {
    tree_.reset();
    inners_.reset();
    inner_persister_.reset();
    chain_.reset();
    persister_.reset();
    in_dram_.reset();
    leaves_.reset();
    pool_.reset();
  }

  std::string Run(uint64_t from, uint64_t to, NodeOracle* oracle) {
    for (uint64_t i = from; i < to; ++i) {
      const uint64_t key = history_.KeyOf(i);
      oracle->started = i + 1;
      bool done = false;
      const bool is_there = tree_->Find(key) != nullptr;
      const Status status =
          is_there ? tree_->Erase(key, &done) : tree_->Insert(key, NodeHistory::ValueOf(i), &done);
      if (!status.ok()) return status.ToString();
      if (!done) return "the tree does not find what it finds";
      oracle->acknowledged = i + 1;
    }
    return "";
  }

  std::string CheckContent(const NodeHistory::Content& expected) {
    uint64_t count = 0;
    bool equal = true;
    tree_->ForEach([&](uint64_t key, const NodeValue& value) {
      const auto wanted = expected.find(key);
      equal = equal && wanted != expected.end() && wanted->second == value;
      ++count;
    });
    if (!equal || count != expected.size()) {
      return std::to_string(count) + " entries, not the " + std::to_string(expected.size()) + " expected";
    }
    for (const auto& [key, value] : expected) {
      const NodeValue* const found = tree_->Find(key);
      if (found == nullptr || !(*found == value)) return "the inner nodes do not lead to a key";
    }
    return "";
  }
  int depth() const { return inners_->depth(); }

 private:
  static constexpr uint64_t kDramBytes = 8 << 20;

  const std::string directory_;
  const NodeHistory& history_;
  std::unique_ptr<TestPool> pool_;
  std::unique_ptr<DramMemory> dram_;
  std::unique_ptr<NodeArena> leaves_;
  std::unique_ptr<NodeArena> in_dram_;
  std::unique_ptr<Persister> persister_;
  std::unique_ptr<InnerPersister> inner_persister_;
  std::unique_ptr<Chain> chain_;
  std::unique_ptr<Inners> inners_;
  std::unique_ptr<Tree> tree_;
};

// As CheckNodeImage.
template <typename SettingType>
std::string CheckTreeImage(const NodeHistory& history, const std::string& directory, const NodeOracle& sure,
                           const NodeOracle& begun) {
  constexpr uint64_t kFurther = 6;
  TreeLife<SettingType> life(directory, history);
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
  wrong = life.Run(done, done + kFurther, &further);
  if (!wrong.empty()) return "takes no further operation: " + wrong;
  life.Close();
  status = life.Open();
  if (!status.ok()) return "does not open again: " + status.ToString();
  return life.CheckContent(history.After(done + kFurther));
}

template <typename SettingType>
class TreeCrashTest : public testing::Test {
 protected:
  static const NodeHistory& history() {
    static const NodeHistory history(kSeed, SettingType::Leaf::kCapacity, kLeaves);
    return history;
  }

  static Simulator* Start(Plan plan, Report* report) {
    plan.seed = kSeed;
    int shutdown_state = 0;  // an image costs less
    CHECK(pmemobj_ctl_set(nullptr, "sds.at_create", &shutdown_state) == 0);
    LimitLanes(kLanes);
    return Simulator::Start(
        plan, sizeof(NodeOracle),
        [](const std::string& directory, const void* before, const void* after) {
          return CheckTreeImage<SettingType>(history(), directory, *static_cast<const NodeOracle*>(before),
                                             *static_cast<const NodeOracle*>(after));
        },
        report);
  }

  static std::string RunLife(const Plan& plan, Report* report) {
    Simulator* const simulator = Start(plan, report);
    auto* const oracle = static_cast<NodeOracle*>(simulator->oracle());
    TreeLife<SettingType> life(plan.LiveDirectory(), history());
    Status status = life.Open();
    if (!status.ok()) return status.ToString();
    life.Close();
    SetLanes(plan.LiveDirectory() + "/pool/parts/000000.pmem", kLanes);
    status = life.Open();
    if (!status.ok()) return status.ToString();
    std::string wrong = life.Run(0, kBefore, oracle);
    simulator->SetPhase("life", kOneIn);
    if (wrong.empty()) wrong = life.Run(kBefore, kOperations, oracle);
    if (wrong.empty()) wrong = life.CheckContent(history().After(kOperations));
    simulator->Finish();
    return wrong.empty() && life.depth() < 2 ? "the tree has no level above another" : wrong;
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
    TreeLife<SettingType> life(plan.LiveDirectory(), history());
    const Status status = life.Open();
    simulator->Finish();
    return status.ok() ? "" : status.ToString();
  }

  static uint64_t ExpectPassed(const Report& report, ScratchDirectory* scratch) {
    EXPECT_EQ(report.failures, 0u) << report.first_failure;
    EXPECT_TRUE(report.finished);
    EXPECT_EQ(report.strangers, 0u);
    if (report.failures != 0) scratch->Keep();
    uint64_t images = 0;
    for (int i = 0; i < report.phases; ++i) {
      images += report.phase[i].images;
      if (report.phase[i].points == 0) continue;
      printf("  %-10s %5" PRIu64 " power failures %6" PRIu64 " images\n", report.phase[i].name,
             report.phase[i].points, report.phase[i].images);
    }
    return images;
  }
};

template <template <typename, typename, size_t> class Layout>
using LeafOf = Layout<uint64_t, NodeValue, kBytes>;
template <typename K, typename V, size_t kNodeBytes>
using Sorted = SortedNode<K, V, kNodeBytes>;

using Settings = testing::Types<
    Setting<LeafOf<HashingNode>, AtomicPersister, true>, Setting<LeafOf<HashingNode>, AtomicPersister, false>,
    Setting<LeafOf<Sorted>, PmwcasPersister, true>, Setting<LeafOf<IndirectionNode>, PmwcasPersister, true>>;

struct SettingName {
  template <typename SettingType>
  static std::string GetName(int) {
    return std::string(SettingType::Leaf::kName) + "_" + SettingType::Persister::kName +
           (SettingType::kInnersInDram ? "_dram" : "_pmem");
  }
};
TYPED_TEST_SUITE(TreeCrashTest, Settings, SettingName);

TYPED_TEST(TreeCrashTest, SurvivesPowerFailuresAtAnyInstantAndInRecovery) {
  ScratchDirectory scratch;
  Plan plan;
  plan.scratch = scratch.path();
  plan.captures = 1;
  const Report life =
      RunForked(kRunSecondsMax, [&](Report* report) { return TestFixture::RunLife(plan, report); });
  EXPECT_GT(this->ExpectPassed(life, &scratch), 100u);
  ASSERT_EQ(life.captured, 1);
  ScratchDirectory recovery;
  Plan next;
  next.scratch = recovery.path();
  const std::string kept = plan.CaptureDirectory(0);
  next.start = kept + kKeptImageDirectory;
  const Report report =
      RunForked(kRunSecondsMax, [&](Report* shared) { return TestFixture::RunRecovery(next, kept, shared); });
  EXPECT_GT(this->ExpectPassed(report, &recovery), 0u);
}

}  // namespace
}  // namespace pmlsm::crash
