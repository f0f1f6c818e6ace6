#include "levels/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "levels/test_support.h"
#include "util/hash.h"

namespace pmlsm {
namespace {

void ExpectGet(const Table& table, const Oracle& oracle, const std::string& key, SequenceNumber snapshot) {
  for (const bool verify : {true, false}) {
    Entry entry;
    bool found;
    const Status s = table.Get(key, KeyHash(key), snapshot, verify, &entry, &found);
    ASSERT_TRUE(s.ok()) << s.ToString();
    const OwnedEntry* const want = oracle.Get(key, snapshot);
    ASSERT_EQ(found, want != nullptr) << Slice(key).ToString(true).substr(0, 100) << " at " << snapshot;
    if (!found) continue;
    ASSERT_TRUE(Same(entry, want->ref()));
    ASSERT_TRUE(table.MayContain(KeyHash(key)));
  }
}

void ExpectAll(const TableOptions& options, const std::vector<OwnedEntry>& entries, const Table& table,
               Random* random, int probes) {
  const Oracle oracle(options.comparator, entries);
  const Status s = table.Check();
  ASSERT_TRUE(s.ok()) << s.ToString();
  ASSERT_EQ(table.smallest(), Slice(entries.front().key));
  ASSERT_EQ(table.largest(), Slice(entries.back().key));
  ASSERT_EQ(table.header().entries, entries.size());
  const std::unique_ptr<InternalIterator> iterator = table.NewIterator(true);
  ASSERT_NO_FATAL_FAILURE(ExpectScans(iterator.get(), entries));
  ASSERT_NO_FATAL_FAILURE(ExpectScans(table.NewIterator(false).get(), entries));
  for (int i = 0; i < probes; ++i) {
    const OwnedEntry& entry = entries[random->Uniform(entries.size())];
    std::string key = random->OneIn(2) ? entry.key : AwkwardKey(random);
    if (random->OneIn(4) && !key.empty()) key.back() ^= 1 << random->Uniform(8);
    if (random->OneIn(4)) key.push_back('\0');
    const SequenceNumber snapshot =
        random->OneIn(3) ? kMaxSequenceNumber
                         : TagSequence(entry.tag) + random->Uniform(3) - (TagSequence(entry.tag) > 0 ? 1 : 0);
    ASSERT_NO_FATAL_FAILURE(ExpectGet(table, oracle, key, snapshot));
    const Tag tag = random->OneIn(2) ? SeekTag(snapshot) : entry.tag;
    ASSERT_NO_FATAL_FAILURE(ExpectSeek(iterator.get(), oracle, entries, key, tag));
  }
}

// Comparator, node bytes, whether Gets go by a routing.
class TableTest : public testing::TestWithParam<std::tuple<int, int, bool>> {
 protected:
  TableOptions Options() const {
    TableOptions options;
    const Comparator* const comparators[] = {BytewiseComparator(), ReverseBytewiseComparator(),
                                             LengthFirst()};
    options.comparator = comparators[std::get<0>(GetParam())];
    options.node_bytes = std::get<1>(GetParam());
    options.routing_budget = RoutingBudget(std::get<2>(GetParam()));
    return options;
  }
};

INSTANTIATE_TEST_SUITE_P(All, TableTest,
                         testing::Combine(testing::Values(0, 1, 2), testing::Values(256, 1024, 4096),
                                          testing::Bool()));

TEST_P(TableTest, RandomTablesAnswerAsTheModel) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Model model(Options().comparator);
    const size_t count = 1 + random.Uniform(seed % 3 == 0 ? 2500 : 300);
    for (size_t i = 0; i < count; ++i) {
      const ValueType type = random.OneIn(8) ? ValueType::kDeletion : ValueType::kValue;
      size_t value_bytes = random.Uniform(200);
      if (random.OneIn(30)) value_bytes = random.Uniform(20000);
      if (random.OneIn(10)) value_bytes = 0;
      model.Put(AwkwardKey(&random), 1 + random.Uniform(count), type, RandomBytes(&random, value_bytes));
    }
    const std::vector<OwnedEntry> entries = model.All();
    const HeapTable built = BuildTable(Options(), entries);
    ASSERT_NO_FATAL_FAILURE(ExpectAll(Options(), entries, *built.table, &random, 200));
  }
}

TEST_P(TableTest, VersionsOfOneKeyFillManyNodes) {
  Random random(42);
  Model model(Options().comparator);
  for (int i = 0; i < 5000; ++i)
    model.Put("hot", 10 + 2 * i, ValueType::kValue, RandomBytes(&random, random.Uniform(60)));
  for (int i = 0; i < 300; ++i) {
    model.Put("aaa" + std::to_string(i), 7, ValueType::kValue, "before");
    model.Put("zzzz" + std::to_string(i), 7, ValueType::kValue, "after");
  }
  model.Put("ho", 1, ValueType::kValue, "x");
  model.Put(std::string("hot\0", 4), 1, ValueType::kValue, "y");
  const std::vector<OwnedEntry> entries = model.All();
  const HeapTable built = BuildTable(Options(), entries);
  ASSERT_NO_FATAL_FAILURE(ExpectAll(Options(), entries, *built.table, &random, 500));
  const Oracle oracle(Options().comparator, entries);
  const std::unique_ptr<InternalIterator> iterator = built.table->NewIterator(true);
  for (SequenceNumber snapshot = 0; snapshot < 6020; snapshot += 31) {
    ASSERT_NO_FATAL_FAILURE(ExpectGet(*built.table, oracle, "hot", snapshot));
    ASSERT_NO_FATAL_FAILURE(ExpectSeek(iterator.get(), oracle, entries, "hot", SeekTag(snapshot)));
  }
}

TEST_P(TableTest, LargeValuesLieOutsideTheNodes) {
  Random random(5);
  Model model(Options().comparator);
  const size_t sizes[] = {0, 1, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 4096, 65536, 1 << 20, 5 << 20};
  int n = 0;
  for (const size_t bytes : sizes) {
    for (int i = 0; i < 3; ++i) {
      ++n;
      model.Put("key" + std::to_string(n), n, ValueType::kValue, RandomBytes(&random, bytes));
    }
  }
  const std::vector<OwnedEntry> entries = model.All();
  const HeapTable built = BuildTable(Options(), entries);
  ASSERT_NO_FATAL_FAILURE(ExpectAll(Options(), entries, *built.table, &random, 100));
}

// Every subset of a small set of keys, in every node size: all Gets and Seeks.
TEST_P(TableTest, SmallTablesExhaustively) {
  const std::vector<std::string> keys = {"",    std::string(1, '\0'),   "a", "ab",
                                         "abc", std::string("ab\0", 3), "b", std::string(2, '\xff')};
  for (uint32_t subset = 1; subset < (1u << keys.size()); ++subset) {
    Model model(Options().comparator);
    for (size_t i = 0; i < keys.size(); ++i) {
      if ((subset >> i & 1) == 0) continue;
      const int versions = 1 + (subset + i) % 3;
      // Long enough for two or three entries a node of 256 B.
      for (int v = 1; v <= versions; ++v) model.Put(keys[i], v * 2, ValueType::kValue, std::string(60, 'v'));
    }
    const std::vector<OwnedEntry> entries = model.All();
    const HeapTable built = BuildTable(Options(), entries);
    ASSERT_TRUE(built.table->Check().ok()) << built.table->Check().ToString();
    const Oracle oracle(Options().comparator, entries);
    const std::unique_ptr<InternalIterator> iterator = built.table->NewIterator(true);
    for (const std::string& key : keys) {
      for (SequenceNumber snapshot = 0; snapshot <= 7; ++snapshot) {
        ASSERT_NO_FATAL_FAILURE(ExpectGet(*built.table, oracle, key, snapshot));
        ASSERT_NO_FATAL_FAILURE(ExpectSeek(iterator.get(), oracle, entries, key, SeekTag(snapshot)));
      }
    }
  }
}

// Fill to the brim, at many capacities: Finish never exceeds one (BuildTable CHECKs), and not much is wasted.
TEST_P(TableTest, FitsIsExact) {
  Random random(99);
  std::vector<OwnedEntry> entries;
  Model model(Options().comparator);
  for (int i = 0; i < 6000; ++i) {
    const size_t value_bytes = random.OneIn(50) ? random.Uniform(5000) : random.Uniform(150);
    model.Put(AwkwardKey(&random), 1 + random.Uniform(1000), ValueType::kValue,
              RandomBytes(&random, value_bytes));
  }
  entries = model.All();
  for (const uint64_t capacity : {uint64_t{16} << 10, uint64_t{64} << 10, uint64_t{256} << 10}) {
    size_t next = 0;
    for (uint64_t number = 1; next < entries.size(); ++number) {
      const uint64_t bytes = std::max(capacity, TableBuilder::BytesFor(Options(), entries[next].ref()));
      const size_t before = next;
      const HeapTable built = BuildTable(Options(), number, bytes, entries, &next);
      ASSERT_GT(next, before);
      const Status s = built.table->Check();
      ASSERT_TRUE(s.ok()) << s.ToString();
    }
  }
}

TEST_P(TableTest, BytesForHoldsItsEntryExactly) {
  for (const size_t key_bytes : {0, 1, 100, 1000, 65536}) {
    for (const size_t value_bytes : {0, 1, 63, 64, 65, 256, 257, 1024, 1025, 100000}) {
      const OwnedEntry entry{std::string(key_bytes, 'k'), MakeTag(1, ValueType::kValue),
                             std::string(value_bytes, 'v')};
      size_t next = 0;
      BuildTable(Options(), 1, TableBuilder::BytesFor(Options(), entry.ref()), {entry}, &next);
      ASSERT_EQ(next, 1u);
    }
  }
}

}  // namespace
}  // namespace pmlsm
