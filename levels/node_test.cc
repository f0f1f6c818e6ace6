#include "levels/node.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "util/random.h"

namespace pmlsm {
namespace {

struct Stored {
  std::string key;
  Tag tag;
  std::string value;
};

// The node of these entries, at place 64 of a region of its own.
class BuiltNode {
 public:
  explicit BuiltNode(const std::vector<Stored>& entries) {
    NodeBuilder builder;
    for (const Stored& entry : entries) {
      builder.Add(entry.key, entry.tag, entry.value, false, Fingerprint(KeyHash(entry.key)));
    }
    const size_t bytes = builder.Bytes();
    memory_.resize(kPlace + bytes + 64);
    char* const start = AlignedStart();
    builder.Finish(3, 0, kPlace, kSeed, start + kPlace);
    region_ = Region{start, kPlace, kPlace + bytes, kSeed};
  }
  char* AlignedStart() {
    return reinterpret_cast<char*>(RoundUpToLine(reinterpret_cast<uintptr_t>(memory_.data())));
  }
  const Region& region() const { return region_; }

  static constexpr uint64_t kPlace = 64;
  static constexpr uint64_t kSeed = 77;

 private:
  std::vector<char> memory_;
  Region region_;
};

std::vector<Stored> RandomEntries(Random* random, size_t count) {
  std::vector<Stored> entries;
  for (size_t i = 0; i < count; ++i) {
    std::string key = "key" + std::to_string(100000 + i * 2);
    for (uint64_t versions = 1 + (random->OneIn(4) ? random->Uniform(20) : 0); versions > 0; --versions) {
      entries.push_back(
          {key, MakeTag(versions * 10, ValueType::kValue), std::string(random->Uniform(10), 'v')});
    }
  }
  return entries;
}

TEST(Node, FindsTheNewestVisibleVersion) {
  for (uint64_t seed = 1; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::vector<Stored> entries = RandomEntries(&random, 1 + random.Uniform(seed < 40 ? 20 : 300));
    BuiltNode built(entries);
    Node node;
    ASSERT_FALSE(node.Load(built.region(), BuiltNode::kPlace, true));
    ASSERT_EQ(node.count(), entries.size());
    ASSERT_EQ(node.ordinal(), 3u);
    for (int probe = 0; probe < 200; ++probe) {
      const std::string key = "key" + std::to_string(100000 + random.Uniform(entries.size() * 2));
      const SequenceNumber snapshot = random.Uniform(220);
      const Stored* want = nullptr;
      bool any = false;
      for (const Stored& entry : entries) {
        if (entry.key != key) continue;
        any = true;
        if (want == nullptr && TagSequence(entry.tag) <= snapshot) want = &entry;
      }
      Entry entry;
      Node::Versions versions;
      ASSERT_FALSE(node.Find(key, Fingerprint(KeyHash(key)), snapshot, true, &entry, &versions));
      ASSERT_EQ(versions.any, any);
      ASSERT_EQ(versions.visible, want != nullptr);
      if (want == nullptr) continue;
      ASSERT_EQ(entry.tag, want->tag);
      ASSERT_EQ(entry.value, Slice(want->value));
    }
  }
}

TEST(Node, LowerBoundAgreesWithACount) {
  for (uint64_t seed = 1; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::vector<Stored> entries = RandomEntries(&random, 1 + random.Uniform(30));
    BuiltNode built(entries);
    Node node;
    ASSERT_FALSE(node.Load(built.region(), BuiltNode::kPlace, true));
    for (int probe = 0; probe < 200; ++probe) {
      const std::string key = "key" + std::to_string(100000 + random.Uniform(entries.size() * 2));
      const Tag tag = SeekTag(random.Uniform(220));
      uint32_t want = 0;
      for (const Stored& entry : entries) {
        want += CompareInternal(*BytewiseComparator(), entry.key, entry.tag, key, tag) < 0;
      }
      for (const bool bytewise : {true, false}) {
        uint32_t slot;
        ASSERT_FALSE(node.LowerBound(BytewiseComparator(), bytewise, key, tag, true, &slot));
        ASSERT_EQ(slot, want);
      }
    }
  }
}

TEST(Node, AtAnotherPlaceOrInAnotherTableDoesNotVerify) {
  const std::vector<Stored> entries = {{"a", MakeTag(1, ValueType::kValue), "v"}};
  BuiltNode built(entries);
  Node node;
  Region other_table = built.region();
  other_table.seed += 1;
  EXPECT_TRUE(node.Load(other_table, BuiltNode::kPlace, true));
  Region moved = built.region();
  moved.start += 64;
  moved.begin -= 64;
  moved.end -= 64;
  EXPECT_TRUE(node.Load(moved, 0, true));
  EXPECT_TRUE(node.Load(built.region(), 0, true)) << "outside the region";
  EXPECT_TRUE(node.Load(built.region(), 72, true)) << "not at a line";
}

TEST(Node, LargestEntryMakesALargerNode) {
  const std::vector<Stored> entries = {
      {std::string(64 << 10, 'k'), MakeTag(1, ValueType::kValue), std::string(8 << 10, 'v')}};
  BuiltNode built(entries);
  Node node;
  ASSERT_FALSE(node.Load(built.region(), BuiltNode::kPlace, true));
  Entry entry;
  ASSERT_FALSE(node.GetEntry(0, true, &entry));
  EXPECT_EQ(entry.key, Slice(entries[0].key));
  EXPECT_EQ(entry.value, Slice(entries[0].value));
}

}  // namespace
}  // namespace pmlsm
