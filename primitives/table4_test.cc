// The paper's Table 4: records a node, and the memory of a chain of 50 million records, keys of 8 bytes and values of
// 16. The record counts are the paper's, all 15.
//
// Of its 15 memory figures, two do not follow from its record counts. For nodes of 1 KiB with a search structure it
// prints 1.25 GB; 37 records a node give 1.29, and 1.25 is what 38 would give. For 2 KiB it prints 1.22; 79 records
// give 1.21, and 1.22 is what 78 would give. The test asserts what follows from the record counts.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <string>

#include "primitives/bitmap_node.h"
#include "primitives/counted_hashing_node.h"
#include "primitives/hashing_node.h"
#include "primitives/indirection_node.h"
#include "primitives/sorted_node.h"
#include "primitives/unsorted_node.h"

namespace pmlsm::primitives {
namespace {

struct PaperValue {
  int32_t first;
  int32_t second;
  double third;
};
static_assert(sizeof(PaperValue) == 16);

constexpr uint64_t kRecords = 50'000'000;

template <size_t kBytes>
using Packed = SortedNode<uint64_t, PaperValue, kBytes, KeyPlace::kPacked>;
template <size_t kBytes>
using PackedUnsorted = UnsortedNode<uint64_t, PaperValue, kBytes, KeyPlace::kPacked>;
template <size_t kBytes>
using Sorted = SortedNode<uint64_t, PaperValue, kBytes>;
template <size_t kBytes>
using Unsorted = UnsortedNode<uint64_t, PaperValue, kBytes>;
template <size_t kBytes>
using Bitmap = BitmapNode<uint64_t, PaperValue, kBytes>;
template <size_t kBytes>
using Indirection = IndirectionNode<uint64_t, PaperValue, kBytes>;
template <size_t kBytes>
using Hashing = HashingNode<uint64_t, PaperValue, kBytes>;
template <size_t kBytes>
using CountedHashing = CountedHashingNode<uint64_t, PaperValue, kBytes>;

template <template <size_t> class Node>
std::string RecordsANode() {
  static_assert(sizeof(Node<256>) == 256 && sizeof(Node<512>) == 512 && sizeof(Node<1024>) == 1024 &&
                sizeof(Node<2048>) == 2048 && sizeof(Node<4096>) == 4096);
  std::string row;
  for (const uint32_t capacity : {Node<256>::kCapacity, Node<512>::kCapacity, Node<1024>::kCapacity,
                                  Node<2048>::kCapacity, Node<4096>::kCapacity}) {
    row += (row.empty() ? "" : " ") + std::to_string(capacity);
  }
  return row;
}

// GiB, as the paper rounds and prints it.
template <template <size_t> class Node>
std::string ChainGiB() {
  const uint64_t bytes[] = {
      ChainBytes(kRecords, Node<256>::kCapacity, 256), ChainBytes(kRecords, Node<512>::kCapacity, 512),
      ChainBytes(kRecords, Node<1024>::kCapacity, 1024), ChainBytes(kRecords, Node<2048>::kCapacity, 2048),
      ChainBytes(kRecords, Node<4096>::kCapacity, 4096)};
  std::string row;
  for (const uint64_t b : bytes) {
    char text[16];
    snprintf(text, sizeof(text), "%.2f", static_cast<double>(b) / (1 << 30));
    row += (row.empty() ? "" : " ") + std::string(text);
  }
  return row;
}

TEST(Table4Test, BaseIsKeysBehindTheMetadata) {
  EXPECT_EQ(RecordsANode<Packed>(), "9 19 41 83 169");
  EXPECT_EQ(RecordsANode<PackedUnsorted>(), "9 19 41 83 169");
  EXPECT_EQ(ChainGiB<Packed>(), "1.32 1.25 1.16 1.15 1.13");
}

TEST(Table4Test, AlignedIsKeysAtACacheLine) {
  EXPECT_EQ(RecordsANode<Sorted>(), "8 18 40 82 168");
  EXPECT_EQ(RecordsANode<Unsorted>(), "8 18 40 82 168");
  EXPECT_EQ(ChainGiB<Sorted>(), "1.49 1.32 1.19 1.16 1.14");
}

TEST(Table4Test, SearchStructureIsABitAndAByteARecord) {
  EXPECT_EQ(RecordsANode<Indirection>(), "8 18 37 79 160");
  EXPECT_EQ(RecordsANode<Hashing>(), "8 18 37 79 160");
  EXPECT_EQ(ChainGiB<Indirection>(), "1.49 1.32 1.29 1.21 1.19");  // printed: 1.25 and 1.22, see above
}

// Not in the table.
TEST(Table4Test, ABitmapAloneCostsNoRecordAndFingerprintsWithoutOneCostFewer) {
  EXPECT_EQ(RecordsANode<Bitmap>(), "8 18 40 82 168");
  EXPECT_EQ(RecordsANode<CountedHashing>(), "8 18 37 80 160");
}

// The two figures that do not follow are those of one record more and one less.
TEST(Table4Test, ThePrintedMemoryIsThatOf38And78Records) {
  const auto gib = [](uint32_t capacity, size_t node_bytes) {
    return static_cast<double>(ChainBytes(kRecords, capacity, node_bytes)) / (1 << 30);
  };
  EXPECT_NEAR(gib(38, 1024), 1.25, 0.005);
  EXPECT_NEAR(gib(78, 2048), 1.22, 0.005);
  EXPECT_GT(gib(37, 1024), 1.285);
  EXPECT_LT(gib(79, 2048), 1.210);
}

template <typename Node>
void ExpectAligned() {
  EXPECT_EQ(alignof(Node), kLineBytes);
  EXPECT_EQ(offsetof(Node, keys) % kLineBytes, 0u);
}

TEST(Table4Test, KeysBeginALineAndMetadataTheNode) {
  ExpectAligned<Sorted<1024>>();
  ExpectAligned<Unsorted<1024>>();
  ExpectAligned<Bitmap<1024>>();
  ExpectAligned<Indirection<1024>>();
  ExpectAligned<Hashing<1024>>();
  ExpectAligned<CountedHashing<1024>>();
  EXPECT_EQ(offsetof(Packed<1024>, keys), kCountBytes + sizeof(Siblings));
  EXPECT_EQ(offsetof(Sorted<1024>, keys), 64u);
  EXPECT_EQ(offsetof(Indirection<512>, keys), 64u);
  EXPECT_EQ(offsetof(Indirection<1024>, keys), 128u);
  EXPECT_EQ(offsetof(Indirection<2048>, keys), 128u);
  EXPECT_EQ(offsetof(Indirection<4096>, keys), 256u);
  EXPECT_EQ(offsetof(Bitmap<4096>, keys), 64u);
}

}  // namespace
}  // namespace pmlsm::primitives
