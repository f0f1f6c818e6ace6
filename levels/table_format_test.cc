// Pins the bytes of a table. A change here is a change of the format: raise kFormatVersion and FORMAT.md.
#include "levels/table_format.h"

#include <gtest/gtest.h>

#include "levels/index_format.h"
#include "levels/node_format.h"
#include "levels/test_support.h"
#include "util/hash.h"

namespace pmlsm {
namespace {

// Of the whole table below.
constexpr uint64_t kGoldenBytes = 1035;
constexpr uint64_t kGoldenHash = 0x7e8aea91e0df93f4;

std::string Hex(const char* from, size_t bytes) { return Slice(from, bytes).ToString(true); }

TEST(TableFormat, GoldenBytes) {
  TableOptions options;
  options.comparator = BytewiseComparator();
  options.node_bytes = 256;
  Model model(options.comparator);
  model.Put("apple", 3, ValueType::kValue, "red");
  model.Put("apple", 2, ValueType::kDeletion, "");
  for (int i = 0; i < 8; ++i)
    model.Put("banana" + std::to_string(i), 4 + i, ValueType::kValue, std::string(20, 'b'));
  model.Put("cherry", 20, ValueType::kValue, std::string(100, 'c'));  // outside
  const HeapTable built = BuildTable(options, model.All());
  const char* const start = built.memory->data();

  TableHeader header;
  memcpy(&header, start, sizeof(header));
  EXPECT_EQ(Hex(start, 8), "706D7461626C6531");  // "pmtable1"
  EXPECT_EQ(header.format_version, 1u);
  EXPECT_EQ(header.table_number, 7u);
  EXPECT_EQ(header.entries, 11u);
  EXPECT_EQ(header.tombstones, 1u);
  EXPECT_EQ(header.sequence_min, 2u);
  EXPECT_EQ(header.sequence_max, 20u);
  EXPECT_EQ(header.nodes_place, 256u);
  EXPECT_EQ(header.nodes, 2u);
  EXPECT_EQ(header.user_keys, 10u);
  EXPECT_EQ(header.filter_probes, 6u);
  EXPECT_EQ(header.index_levels, 1u);
  EXPECT_EQ(header.smallest_bytes, 5u);
  EXPECT_EQ(Hex(start + header.keys_place, 11), Hex("applecherry", 11));

  // First node: header, fingerprints, slots; the first entry after its checksum.
  NodeHeader node;
  memcpy(&node, start + 256, sizeof(node));
  EXPECT_EQ(node.ordinal, 0u);
  EXPECT_EQ(node.flags, 0u);
  const size_t front = sizeof(NodeHeader) + 3u * node.count;
  EXPECT_EQ(static_cast<uint8_t>(start[256 + sizeof(NodeHeader)]), static_cast<uint8_t>(KeyHash("apple")));
  EXPECT_EQ(Hex(start + 256 + front + 4, 20),
            "05000600"            // 5 key bytes, 3 value bytes
            "0103000000000000"    // sequence 3, kValue
            "6170706C65726564");  // "apple", "red"
  SCOPED_TRACE("hash " + std::to_string(Hash64(start, built.bytes)));
  EXPECT_EQ(built.bytes, kGoldenBytes);
  EXPECT_EQ(Hash64(start, built.bytes), kGoldenHash);
}

}  // namespace
}  // namespace pmlsm
