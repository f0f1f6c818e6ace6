// Drop rules by what readers see: every history of one key that is small enough, under every set of
// snapshots.
#include "compaction/drop_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "util/random.h"

namespace pmlsm {
namespace {

struct VersionOfKey {
  SequenceNumber sequence;
  ValueType type;
};
// Of one key, newest first.
using History = std::vector<VersionOfKey>;
using Snapshots = std::vector<SequenceNumber>;

constexpr SequenceNumber kNothing = 0;
// In a run that is older than the inputs of the merge: no history has it.
constexpr SequenceNumber kBelow = 1;
constexpr SequenceNumber kFirst = 2;

// Which write a read at `snapshot` sees: its sequence number, or kNothing. `below`: the key has an older
// value.
SequenceNumber Seen(const History& history, SequenceNumber snapshot, bool below) {
  for (const VersionOfKey& version : history) {
    if (version.sequence > snapshot) continue;
    return version.type == ValueType::kDeletion ? kNothing : version.sequence;
  }
  return below ? kBelow : kNothing;
}

std::string Text(const History& history, const Snapshots& snapshots, bool below) {
  std::string text;
  for (const VersionOfKey& version : history) {
    text +=
        (version.type == ValueType::kDeletion ? "delete@" : "put@") + std::to_string(version.sequence) + " ";
  }
  text += "snapshots";
  for (const SequenceNumber snapshot : snapshots) text += " " + std::to_string(snapshot);
  return text + (below ? ", held below" : "");
}

History Kept(DropRules* rules, const std::string& key, const History& history) {
  History kept;
  for (const VersionOfKey& version : history) {
    if (!rules->Drop({key, MakeTag(version.sequence, version.type), ""})) kept.push_back(version);
  }
  return kept;
}

// The contract for one key: no reader sees a difference, and nothing stays that no reader needs.
void ExpectKept(const History& before, const History& kept, const Snapshots& snapshots, bool held_below) {
  SCOPED_TRACE(Text(before, snapshots, held_below));
  Snapshots readers = snapshots;
  readers.push_back(kMaxSequenceNumber);  // the live state
  for (const SequenceNumber reader : readers) {
    ASSERT_EQ(Seen(kept, reader, held_below), Seen(before, reader, held_below)) << "a read at " << reader;
  }
  // A version stays if it is the newest that some reader may see; but not a tombstone that the oldest reader
  // sees, if it hides nothing.
  std::set<SequenceNumber> needed;
  for (const SequenceNumber reader : readers) {
    for (const VersionOfKey& version : before) {
      if (version.sequence > reader) continue;
      const bool hides_nothing =
          version.type == ValueType::kDeletion && !held_below && version.sequence <= readers.front();
      if (!hides_nothing) needed.insert(version.sequence);
      break;
    }
  }
  std::set<SequenceNumber> stayed;
  for (const VersionOfKey& version : kept) stayed.insert(version.sequence);
  ASSERT_EQ(stayed, needed);
}

// All histories of up to five versions with sequence numbers from kFirst to kFirst + 4.
std::vector<History> AllHistories() {
  constexpr int kSequences = 5;
  std::vector<History> all;
  int choices = 1;
  for (int i = 0; i < kSequences; ++i) choices *= 3;
  for (int choice = 0; choice < choices; ++choice) {
    History history;
    int rest = choice;
    for (int i = kSequences - 1; i >= 0; --i, rest /= 3) {
      if (rest % 3 != 0) {
        history.push_back({kFirst + i, rest % 3 == 1 ? ValueType::kValue : ValueType::kDeletion});
      }
    }
    all.push_back(history);
  }
  return all;
}

// All sets of snapshots from before the first sequence number to behind the last.
std::vector<Snapshots> AllSnapshots() {
  std::vector<Snapshots> all;
  for (unsigned set = 0; set < 1u << 7; ++set) {
    Snapshots snapshots;
    for (unsigned i = 0; i < 7; ++i) {
      if ((set >> i & 1) != 0) snapshots.push_back(kFirst - 1 + i);
    }
    all.push_back(snapshots);
  }
  return all;
}

TEST(DropRulesTest, NoReaderSeesADifferenceAndNothingNeedlessStays) {
  for (const History& history : AllHistories()) {
    for (const Snapshots& snapshots : AllSnapshots()) {
      for (const bool held_below : {false, true}) {
        DropRules rules(BytewiseComparator(), snapshots, [held_below](const Slice&) { return held_below; });
        const History kept = Kept(&rules, "key", history);
        ASSERT_NO_FATAL_FAILURE(ExpectKept(history, kept, snapshots, held_below));
      }
    }
  }
}

// Nothing of one key's history may leak into the next key's.
TEST(DropRulesTest, NeighbouringKeysDoNotTouchEachOther) {
  Random random(1);
  const std::vector<History> histories = AllHistories();
  const std::vector<Snapshots> all_snapshots = AllSnapshots();
  for (int round = 0; round < 3000; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const Snapshots& snapshots = all_snapshots[random.Uniform(all_snapshots.size())];
    const uint64_t held = random.Next();  // bit i: key i is held below
    const auto held_below = [held](const Slice& key) {
      return (held >> (key[key.size() - 1] - 'a') & 1) != 0;
    };
    const bool reverse = random.OneIn(2);
    DropRules rules(reverse ? ReverseBytewiseComparator() : BytewiseComparator(), snapshots, held_below);
    // Entries' keys must stay readable until the next call.
    std::vector<std::string> keys;
    for (char c = 'a'; c < 'a' + 8; ++c) keys.push_back(std::string("key") + c);
    if (reverse) std::reverse(keys.begin(), keys.end());
    uint64_t shadowed = 0;
    uint64_t gone = 0;
    for (const std::string& key : keys) {
      const History& history = histories[random.Uniform(histories.size())];
      const History kept = Kept(&rules, key, history);
      ASSERT_NO_FATAL_FAILURE(ExpectKept(history, kept, snapshots, held_below(key)));
      if (held_below(key)) shadowed += history.size() - kept.size();
      gone += history.size() - kept.size();
    }
    // Where a key is held below, only what is shadowed goes.
    EXPECT_GE(rules.shadowed(), shadowed);
    EXPECT_LE(rules.shadowed(), gone);
  }
}

TEST(DropRulesTest, ASnapshotSeesTheWriteThatHasItsNumber) {
  const History history = {{7, ValueType::kValue}, {6, ValueType::kValue}, {5, ValueType::kValue}};
  const auto kept = [&history](const Snapshots& snapshots) {
    DropRules rules(BytewiseComparator(), snapshots, [](const Slice&) { return false; });
    std::vector<SequenceNumber> sequences;
    for (const VersionOfKey& version : Kept(&rules, "key", history)) sequences.push_back(version.sequence);
    return sequences;
  };
  using Sequences = std::vector<SequenceNumber>;
  EXPECT_EQ(kept({}), Sequences({7}));
  EXPECT_EQ(kept({4}), Sequences({7}));
  EXPECT_EQ(kept({5}), Sequences({7, 5}));
  EXPECT_EQ(kept({6}), Sequences({7, 6}));
  EXPECT_EQ(kept({7}), Sequences({7}));
  EXPECT_EQ(kept({5, 6, 7}), Sequences({7, 6, 5}));
}

TEST(DropRulesTest, ATombstoneGoesOnlyWhenNothingOlderCanHoldItsKey) {
  const auto dropped = [](const Snapshots& snapshots, bool held_below) {
    std::string asked;
    DropRules rules(BytewiseComparator(), snapshots, [&asked, held_below](const Slice& key) {
      asked = key.ToString();
      return held_below;
    });
    const bool drop = rules.Drop({"key", MakeTag(5, ValueType::kDeletion), ""});
    EXPECT_TRUE(asked.empty() || asked == "key") << asked;
    return drop;
  };
  EXPECT_TRUE(dropped({}, false));
  EXPECT_FALSE(dropped({}, true));
  EXPECT_TRUE(dropped({5}, false));
  EXPECT_FALSE(dropped({5}, true));
  EXPECT_FALSE(dropped({4}, false)) << "what the snapshot sees may be in the inputs";
  EXPECT_FALSE(dropped({4, 9}, false));
}

TEST(DropRulesTest, ShadowedVersionsAreCounted) {
  DropRules rules(BytewiseComparator(), {3}, [](const Slice&) { return false; });
  const History history = {{9, ValueType::kValue},
                           {8, ValueType::kDeletion},
                           {7, ValueType::kValue},
                           {3, ValueType::kDeletion},
                           {2, ValueType::kValue}};
  EXPECT_EQ(Kept(&rules, "key", history).size(), 1u);
  EXPECT_EQ(rules.shadowed(), 3u);  // 8, 7, 2; the tombstone 3 hides nothing
}

}  // namespace
}  // namespace pmlsm
