// Fault model: bits of a table's bytes flip on the medium, before or after it is opened. The rule: with
// verify, every answer is right or Corruption; never a wrong value, a false NotFound, a scan that ends early
// with OK. Without verify: no crash and no endless loop.
#include <gtest/gtest.h>

#include "levels/test_support.h"
#include "util/hash.h"

namespace pmlsm {
namespace {

class Victim {
 public:
  Victim(const TableOptions& options, std::vector<OwnedEntry> entries)
      : options_(options),
        entries_(std::move(entries)),
        oracle_(options.comparator, entries_),
        built_(BuildTable(options, entries_)) {}

  uint64_t bits() const { return built_.bytes * 8; }
  void Flip(uint64_t bit) { built_.memory->data()[bit / 8] ^= static_cast<char>(1 << bit % 8); }

  const char* start() const { return built_.memory->data(); }

  // The table as it was opened before the damage.
  const Table& open_table() const { return *built_.table; }
  const std::vector<OwnedEntry>& entries() const { return entries_; }

  Status Reopen(std::unique_ptr<Table>* table) const {
    return Table::Open(options_, built_.memory->data(), Span{0, built_.memory->bytes()}, table);
  }

  void ExpectRule(const Table& table, const std::vector<std::string>& absent) const {
    for (const OwnedEntry& entry : entries_) {
      ASSERT_NO_FATAL_FAILURE(ExpectGet(table, entry.key, TagSequence(entry.tag)));
      ASSERT_NO_FATAL_FAILURE(ExpectSeek(table, entry.key, entry.tag));
      ASSERT_NO_FATAL_FAILURE(ExpectSeek(table, entry.key, kMaxTag));
    }
    for (const std::string& key : absent) {
      ASSERT_NO_FATAL_FAILURE(ExpectGet(table, key, kMaxSequenceNumber));
      ASSERT_NO_FATAL_FAILURE(ExpectSeek(table, key, kMaxTag));
    }
    ASSERT_NO_FATAL_FAILURE(ExpectScans(table));
  }

  void ExpectGet(const Table& table, const std::string& key, SequenceNumber snapshot) const {
    const uint64_t hash = KeyHash(key);
    const OwnedEntry* const want = oracle_.Get(key, snapshot);
    if (want != nullptr) {
      ASSERT_TRUE(table.MayContain(hash));
    }
    Entry entry;
    bool found;
    const Status s = table.Get(key, hash, snapshot, true, &entry, &found);
    if (!s.ok()) {
      ASSERT_TRUE(s.IsCorruption());
      return;
    }
    ASSERT_EQ(found, want != nullptr);
    if (found) {
      ASSERT_TRUE(Same(entry, want->ref()));
    }
  }

  void ExpectSeek(const Table& table, const std::string& key, Tag tag) const {
    const size_t i = oracle_.LowerBound(key, tag);
    const std::unique_ptr<InternalIterator> iterator = table.NewIterator(true);
    if (tag == kMaxTag) iterator->PrepareSeek(key);
    iterator->Seek(key, tag);
    if (!iterator->valid() && iterator->status().IsCorruption()) return;
    ASSERT_NO_FATAL_FAILURE(ExpectAt(*iterator, entries_, i));
  }

  void ExpectScans(const Table& table) const {
    const std::unique_ptr<InternalIterator> iterator = table.NewIterator(true);
    size_t i = 0;
    for (iterator->SeekToFirst(); iterator->valid(); iterator->Next(), ++i) {
      ASSERT_NO_FATAL_FAILURE(ExpectAt(*iterator, entries_, i));
    }
    ASSERT_TRUE(i == entries_.size() || iterator->status().IsCorruption()) << "forward, ended at " << i;
    i = entries_.size();
    for (iterator->SeekToLast(); iterator->valid(); iterator->Prev()) {
      ASSERT_NO_FATAL_FAILURE(ExpectAt(*iterator, entries_, --i));
    }
    ASSERT_TRUE(i == 0 || iterator->status().IsCorruption()) << "backward, ended at " << i;
  }

  // Whatever it answers, it ends and stays inside the table (the address sanitizer watches).
  void UseUnverified(const Table& table) const {
    uint64_t sum = 0;
    for (const OwnedEntry& want : entries_) {
      Entry entry;
      bool found;
      const Status s = table.Get(want.key, KeyHash(want.key), kMaxSequenceNumber, false, &entry, &found);
      if (s.ok() && found) sum += Touch(entry);
    }
    const std::unique_ptr<InternalIterator> iterator = table.NewIterator(false);
    size_t moves = 0;
    const size_t moves_max = entries_.size() + 70000;
    for (iterator->SeekToFirst(); iterator->valid() && moves < moves_max; iterator->Next(), ++moves) {
      sum += Touch(iterator->entry());
    }
    ASSERT_LT(moves, moves_max);
    moves = 0;
    for (iterator->SeekToLast(); iterator->valid() && moves < moves_max; iterator->Prev(), ++moves) {
      sum += Touch(iterator->entry());
    }
    ASSERT_LT(moves, moves_max);
    const OwnedEntry& middle = entries_[entries_.size() / 2];
    iterator->SeekForPrev(middle.key, middle.tag);
    if (iterator->valid()) sum += Touch(iterator->entry());
    volatile uint64_t sink = sum;
    static_cast<void>(sink);
  }

 private:
  static uint64_t Touch(const Entry& entry) {
    return Hash64(entry.key.data(), entry.key.size()) + Hash64(entry.value.data(), entry.value.size());
  }

  const TableOptions options_;
  const std::vector<OwnedEntry> entries_;
  const Oracle oracle_;
  const HeapTable built_;
};

// Several nodes, versions that continue in the next one, values outside, two levels of index if `wide`.
std::vector<OwnedEntry> SmallEntries(const Comparator* comparator) {
  Random random(1);
  Model model(comparator);
  for (int i = 0; i < 8; ++i) {
    model.Put("key" + std::to_string(i), 5, ValueType::kValue, RandomBytes(&random, random.Uniform(30)));
  }
  for (int i = 0; i < 8; ++i) model.Put("key4x", 10 + i, ValueType::kValue, RandomBytes(&random, 20));
  model.Put("key6", 9, ValueType::kDeletion, "");
  model.Put("key7", 8, ValueType::kValue, RandomBytes(&random, 100));
  return model.All();
}
const std::vector<std::string> kAbsent = {"",      "key",   "key00", "key4", "key4w",
                                          "key4y", "key55", "kez",   "zzz"};

// Comparator, whether Gets go by a routing, made before the damage.
class TableCorruptionTest : public testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  TableOptions Options() const {
    TableOptions options;
    const Comparator* const comparators[] = {BytewiseComparator(), ReverseBytewiseComparator(),
                                             LengthFirst()};
    options.comparator = comparators[std::get<0>(GetParam())];
    options.node_bytes = 256;
    options.routing_budget = RoutingBudget(std::get<1>(GetParam()));
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(All, TableCorruptionTest,
                         testing::Combine(testing::Values(0, 1, 2), testing::Bool()));

TEST_P(TableCorruptionTest, EveryFlippedBitOfASmallTable) {
  Victim victim(Options(), SmallEntries(Options().comparator));
  ASSERT_TRUE(victim.open_table().Check().ok());
  ASSERT_GE(victim.open_table().header().nodes, 3u);
  for (uint64_t bit = 0; bit < victim.bits(); ++bit) {
    SCOPED_TRACE("bit " + std::to_string(bit % 8) + " of byte " + std::to_string(bit / 8));
    victim.Flip(bit);
    ASSERT_TRUE(victim.open_table().Check().IsCorruption()) << "Check must notice any bit";
    ASSERT_NO_FATAL_FAILURE(victim.ExpectRule(victim.open_table(), kAbsent));
    ASSERT_NO_FATAL_FAILURE(victim.UseUnverified(victim.open_table()));
    std::unique_ptr<Table> reopened;
    const Status s = victim.Reopen(&reopened);
    ASSERT_TRUE(s.ok() || s.IsCorruption());
    if (s.ok() && bit % 5 == 0) {
      ASSERT_NO_FATAL_FAILURE(victim.ExpectRule(*reopened, kAbsent));
    }
    victim.Flip(bit);
  }
  ASSERT_TRUE(victim.open_table().Check().ok());
}

TEST_P(TableCorruptionTest, RandomBitsOfALargerTable) {
  Random random(77);
  Model model(Options().comparator);
  for (int i = 0; i < 1500; ++i) {
    const size_t value_bytes = random.OneIn(40) ? random.Uniform(2000) : random.Uniform(40);
    model.Put(BigEndian(random.Uniform(2000)) + "k", 1 + random.Uniform(50), ValueType::kValue,
              RandomBytes(&random, value_bytes));
  }
  Victim victim(Options(), model.All());
  ASSERT_GE(victim.open_table().header().index_levels, 2u);
  const uint64_t index_bits = victim.open_table().header().index_place * 8;
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    // Half of them in the index, which is small.
    std::vector<uint64_t> bits;
    for (uint64_t flips = 1 + random.Uniform(3); flips > 0; --flips) {
      bits.push_back(round % 2 == 0 ? random.Uniform(victim.bits())
                                    : index_bits + random.Uniform(victim.bits() - index_bits));
    }
    for (const uint64_t bit : bits) victim.Flip(bit);
    ASSERT_NO_FATAL_FAILURE(victim.ExpectRule(victim.open_table(), {}));
    for (int i = 0; i < 200; ++i) {
      const std::string key = BigEndian(random.Uniform(2000)) + (random.OneIn(2) ? "" : "z");
      ASSERT_NO_FATAL_FAILURE(victim.ExpectGet(victim.open_table(), key, kMaxSequenceNumber));
      ASSERT_NO_FATAL_FAILURE(victim.ExpectSeek(victim.open_table(), key, kMaxTag));
    }
    ASSERT_NO_FATAL_FAILURE(victim.UseUnverified(victim.open_table()));
    for (const uint64_t bit : bits) victim.Flip(bit);
  }
  ASSERT_TRUE(victim.open_table().Check().ok());
}

// Not single bits but whole lines of garbage, the index included.
TEST_P(TableCorruptionTest, GarbageLines) {
  Victim victim(Options(), SmallEntries(Options().comparator));
  Random random(5);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const uint64_t line = random.Uniform(victim.bits() / 512);
    std::vector<uint64_t> bits;
    for (uint64_t bit = line * 512; bit < line * 512 + 512; ++bit) {
      if (random.OneIn(2)) bits.push_back(bit);
    }
    for (const uint64_t bit : bits) victim.Flip(bit);
    ASSERT_NO_FATAL_FAILURE(victim.ExpectRule(victim.open_table(), kAbsent));
    ASSERT_NO_FATAL_FAILURE(victim.UseUnverified(victim.open_table()));
    for (const uint64_t bit : bits) victim.Flip(bit);
  }
}

// What is made of damaged nodes would be wrong for as long as the table is open.
TEST(TableCorruption, ADamagedTableGetsNoRouting) {
  TableOptions options;
  options.comparator = BytewiseComparator();
  options.node_bytes = 256;
  Victim victim(options, SmallEntries(options.comparator));
  options.routing_budget = RoutingBudget(true);
  const uint64_t used = options.routing_budget->used();
  const TableHeader& header = victim.open_table().header();
  uint64_t refused = 0;
  for (uint64_t bit = 8 * header.nodes_place; bit < 8 * (header.nodes_place + header.nodes_bytes); ++bit) {
    SCOPED_TRACE("bit " + std::to_string(bit % 8) + " of byte " + std::to_string(bit / 8));
    victim.Flip(bit);
    std::unique_ptr<Table> table;
    ASSERT_TRUE(Table::Open(options, victim.start(), victim.open_table().span(), &table).ok());
    table->MakeRouting();
    refused += table->routing() == nullptr ? 1 : 0;
    // Made: the bit is in a value outside the nodes, or in padding.
    for (int round = 0; round < 3; ++round) {
      ASSERT_NO_FATAL_FAILURE(victim.ExpectRule(*table, kAbsent));
    }
    victim.Flip(bit);
    table.reset();
    ASSERT_EQ(options.routing_budget->used(), used);
  }
  EXPECT_GT(refused, header.nodes_bytes * 8 / 2);
}

TEST(TableCorruption, ErrorsNameTheTableAndThePlace) {
  TableOptions options;
  options.comparator = BytewiseComparator();
  Victim victim(options, SmallEntries(options.comparator));
  victim.Flip((256 + 100) * 8);
  const std::string text = victim.open_table().Check().ToString();
  EXPECT_NE(text.find("table 7"), std::string::npos) << text;
  EXPECT_NE(text.find("node at place 256"), std::string::npos) << text;
}

TEST(TableCorruption, ErrorsOfRoutedGetsNameTheTableAndThePlace) {
  TableOptions options;
  options.comparator = BytewiseComparator();
  options.node_bytes = 256;
  options.routing_budget = RoutingBudget(true);
  Victim victim(options, SmallEntries(options.comparator));
  ASSERT_NE(victim.open_table().routing(), nullptr);
  Entry entry;
  bool found;
  const std::string key = "key3";
  const Table& table = victim.open_table();
  ASSERT_TRUE(table.Get(key, KeyHash(key), kMaxSequenceNumber, true, &entry, &found).ok());
  ASSERT_TRUE(found);
  victim.Flip(8 * (entry.key.data() - victim.start()));
  const Status s = table.Get(key, KeyHash(key), kMaxSequenceNumber, true, &entry, &found);
  EXPECT_TRUE(s.IsCorruption());
  const std::string text = s.ToString();
  EXPECT_NE(text.find("table 7"), std::string::npos) << text;
  EXPECT_NE(text.find("entry at place "), std::string::npos) << text;
}

}  // namespace
}  // namespace pmlsm
