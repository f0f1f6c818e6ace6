// How a table comes to its routing, and gives it back. What it answers with one: table_test.cc,
// table_corruption_test.cc.
#include "levels/table_routing.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "levels/test_support.h"
#include "util/hash.h"

namespace pmlsm {
namespace {

std::vector<OwnedEntry> SomeEntries() {
  Model model(BytewiseComparator());
  for (int i = 0; i < 2000; ++i) model.Put("key" + std::to_string(i), 5, ValueType::kValue, "value");
  return model.All();
}

class TableRoutingTest : public testing::Test {
 protected:
  TableRoutingTest() : entries_(SomeEntries()), oracle_(BytewiseComparator(), entries_) {
    options_.comparator = BytewiseComparator();
    built_ = BuildTable(options_, entries_);
  }

  std::unique_ptr<Table> Open(DramBudget* budget) {
    options_.routing_budget = budget;
    std::unique_ptr<Table> table;
    CHECK(Table::Open(options_, built_.memory->data(), built_.table->span(), &table).ok());
    return table;
  }
  uint64_t routing_bytes() const { return TableRouting::BytesFor(built_.table->header()); }

  // Of keys that are there and that are not.
  void Read(const Table& table, int from, int gets) const {
    for (int i = from; i < from + gets; ++i) {
      const std::string key = "key" + std::to_string(i % 2100);
      Entry entry;
      bool found;
      const Status s = table.Get(key, KeyHash(key), kMaxSequenceNumber, true, &entry, &found);
      ASSERT_TRUE(s.ok()) << s.ToString();
      const OwnedEntry* const want = oracle_.Get(key, kMaxSequenceNumber);
      ASSERT_EQ(found, want != nullptr) << key;
      if (found) {
        ASSERT_TRUE(Same(entry, want->ref()));
      }
    }
  }

  TableOptions options_;
  const std::vector<OwnedEntry> entries_;
  const Oracle oracle_;
  HeapTable built_;
};

TEST_F(TableRoutingTest, ComesWithReadsWithinTheBudget) {
  const std::unique_ptr<Table> none = Open(nullptr);
  Read(*none, 0, 300);
  EXPECT_EQ(none->routing(), nullptr);

  DramBudget budget(routing_bytes() - 1);
  std::unique_ptr<Table> table = Open(&budget);
  Read(*table, 0, 300);
  EXPECT_EQ(table->routing(), nullptr) << "no DRAM";
  EXPECT_EQ(budget.used(), 0u);
  budget.SetLimit(routing_bytes());
  EXPECT_EQ(table->routing(), nullptr);
  Read(*table, 300, 300);
  EXPECT_NE(table->routing(), nullptr);
  EXPECT_EQ(budget.used(), budget.limit());
  Read(*table, 600, 1500);
  table.reset();
  EXPECT_EQ(budget.used(), 0u);
}

// Readers that come upon a table without one race for who makes it; the others go on reading.
TEST_F(TableRoutingTest, ReadersMayMakeItAtOnce) {
  for (int round = 0; round < 20; ++round) {
    DramBudget budget(routing_bytes());
    const std::unique_ptr<Table> table = Open(&budget);
    std::vector<std::thread> readers;
    for (int reader = 0; reader < 4; ++reader) {
      readers.emplace_back([&, reader] { Read(*table, reader * 500, 400); });
    }
    for (std::thread& reader : readers) reader.join();
    EXPECT_NE(table->routing(), nullptr);
  }
}

}  // namespace
}  // namespace pmlsm
