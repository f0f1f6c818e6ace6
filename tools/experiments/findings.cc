#include "tools/experiments/findings.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace pmlsm::experiments {
namespace {

// A ratio this far from 1 is a difference; nearer, it is noise.
constexpr double kDifference = 1.05;
constexpr double kSame = 1.10;
// What the automatic choice may cost more than the best fixed one, in counts, which have no noise.
constexpr double kAutoBound = 1.05;
// Of the pairs that must agree.
constexpr double kHolds = 0.9;
constexpr double kHoldsInPart = 0.5;
// "In the order of a few kilobytes."
constexpr uint64_t kSmallBufferBytes = 8 << 10;

enum class Expect { kGreater, kSame, kNotGreater };

struct Claim {
  const char* id;
  const char* section;
  const char* text;
  const char* ratio;
  Expect expect;
  bool (*base)(const Setup&);  // rows that are the divisor
  void (*change)(Setup*);      // makes the setup of the row that is divided
  double (*value)(const Row&);
  const char* reason;  // why it may not hold on this medium and in this engine
};

bool IsMove(const Setup& s) { return s.experiment == Experiment::kMoveNode; }
bool IsAuto(const Setup& s) { return s.form == MergeForm::kAuto; }
bool IsMerge(const Setup& s) { return s.experiment == Experiment::kMergeLevel && !IsAuto(s); }
bool IsAtomic(const Setup& s) { return s.atomicity == FailureAtomicity::kAtomic; }
bool IsTransaction(const Setup& s) { return s.atomicity == FailureAtomicity::kTransaction; }
bool IsDirect(const Setup& s) { return s.destination == MergeDestination::kDirect; }
bool IsUnique(const Setup& s) { return IsMerge(s) && s.duplicates == 0; }
bool IsDuplicate(const Setup& s) { return IsMerge(s) && s.duplicates == 100; }

void ToHash(Setup* s) { s->memtable = MemTableType::kHash; }
void ToSorted(Setup* s) { s->memtable = MemTableType::kSorted; }
void ToTransaction(Setup* s) { s->atomicity = FailureAtomicity::kTransaction; }
void ToIndividual(Setup* s) { s->atomicity = FailureAtomicity::kIndividual; }
void ToKWay(Setup* s) { s->form = MergeForm::kKWay; }
void ToBuffered(Setup* s) { s->destination = MergeDestination::kBuffered; }
void ToDirect(Setup* s) { s->destination = MergeDestination::kDirect; }

double FillAndMove(const Row& row) { return FillNanosPerEntry(row) + NanosPerEntry(row); }

constexpr char kKWayReason[] =
    "a K-way merge looks at each input's entry once and keeps it as the head, so that its comparisons seldom "
    "go "
    "back to PMem, and here that is DRAM; materialising copies an entry log2(inputs) - 1 times";
constexpr char kSnapshotReason[] =
    "the snapshot is one copy at DRAM speed, to be set against building the table (filter, index, checksums) "
    "and, "
    "with large DRAM buffers, the faults of their fresh pages, which come and go with the allocator's state";

const Claim kClaims[] = {
    {"E6.1", "5.3, Move Node",
     "moving sorted DRAM data is faster than moving a hash table, which is sorted first",
     "hash / sorted, latency of a move", Expect::kGreater,
     [](const Setup& s) { return IsMove(s) && s.memtable == MemTableType::kSorted; }, ToHash, NanosPerEntry,
     "the paper copies an array; the sorted memtable is a B+-tree with append-only leaves, whose newest "
     "entries its "
     "iterator puts in order, while the hash memtable sorts words of keys and prefetches its entries"},
    {"E6.2", "5.3, Move Node", "keeping the DRAM data sorted makes filling it costlier",
     "sorted / hash, time to fill", Expect::kGreater,
     [](const Setup& s) { return IsMove(s) && IsAtomic(s) && s.memtable == MemTableType::kHash; }, ToSorted,
     FillNanosPerEntry,
     "in a small memtable a search takes a few comparisons in cached lines, as little as the hash table's "
     "own "
     "costs (its first segments, growth)"},
    {"E6.3", "5.3, Move Node",
     "for small buffers (to 8 KiB) sorted is the better choice: fill and move together",
     "hash / sorted, fill and move", Expect::kGreater,
     [](const Setup& s) {
       return IsMove(s) && s.memtable == MemTableType::kSorted && s.node_bytes <= kSmallBufferBytes;
     },
     ToHash, FillAndMove, "the hash table's cheaper filling makes up for the sort"},
    {"E6.4", "5.3, Move Node", "PMDK transactions cost much more than No FA", "transaction / atomic",
     Expect::kGreater, [](const Setup& s) { return IsMove(s) && IsAtomic(s); }, ToTransaction, NanosPerEntry,
     kSnapshotReason},
    {"E6.5", "5.3, Move Node", "PMDK transactions cost much more than Individual FA",
     "transaction / individual", Expect::kGreater,
     [](const Setup& s) { return IsMove(s) && s.atomicity == FailureAtomicity::kIndividual; }, ToTransaction,
     NanosPerEntry, kSnapshotReason},
    {"E6.6", "5.3, Move Node", "Individual FA costs about as much as No FA", "individual / atomic",
     Expect::kSame, [](const Setup& s) { return IsMove(s) && IsAtomic(s); }, ToIndividual, NanosPerEntry,
     "a transaction of one word has a fixed cost, which shows in small nodes: their streams and fences, the "
     "larger part on PMem, are nearly free on DRAM"},
    {"E7.1", "5.3, Merge Level", "PMDK transactions have a great penalty in all cases",
     "transaction / atomic", Expect::kGreater, [](const Setup& s) { return IsMerge(s) && IsAtomic(s); },
     ToTransaction, NanosPerEntry, kSnapshotReason},
    {"E7.2", "5.3, Merge Level", "direct, unique keys, No FA: 2-way is faster than K-way",
     "kway / 2way-materialized", Expect::kGreater,
     [](const Setup& s) {
       return IsUnique(s) && IsAtomic(s) && IsDirect(s) && s.form == MergeForm::kMaterialized;
     },
     ToKWay, NanosPerEntry, kKWayReason},
    {"E7.2s", "5.3, Merge Level", "the same with the engine's streaming 2-way", "kway / 2way-streaming",
     Expect::kGreater,
     [](const Setup& s) {
       return IsUnique(s) && IsAtomic(s) && IsDirect(s) && s.form == MergeForm::kStreaming;
     },
     ToKWay, NanosPerEntry,
     "both make log2(inputs) comparisons of heads an entry; the loser tree makes them without virtual calls"},
    {"E7.3", "5.3, Merge Level", "direct, duplicate keys, No FA: K-way is as fast as 2-way",
     "kway / 2way-materialized", Expect::kSame,
     [](const Setup& s) {
       return IsDuplicate(s) && IsAtomic(s) && IsDirect(s) && s.form == MergeForm::kMaterialized;
     },
     ToKWay, NanosPerEntry,
     "2-way drops duplicates in its early steps, and compares fewer entries in the later ones; K-way takes "
     "each "
     "one through the whole tree, but copies none of them to DRAM. Which outweighs depends on the memory"},
    {"E7.4", "5.3, Merge Level",
     "direct, duplicate keys, PMDK transactions: 2-way is faster, since it snapshots "
     "the last step's sum only",
     "kway / 2way-materialized", Expect::kGreater,
     [](const Setup& s) {
       return IsDuplicate(s) && IsTransaction(s) && IsDirect(s) && s.form == MergeForm::kMaterialized;
     },
     ToKWay, NanosPerEntry,
     "the larger snapshot is a copy at DRAM speed, which costs less than materialising saves"},
    {"E7.5", "5.3, Merge Level", "unique keys, PMDK transactions: an intermediate DRAM buffer costs more",
     "buffered / direct", Expect::kGreater,
     [](const Setup& s) { return IsUnique(s) && IsTransaction(s) && IsDirect(s); }, ToBuffered, NanosPerEntry,
     "the copy through DRAM is cheap next to the rest, and one long stream is no slower than many short "
     "ones; a "
     "ratio far above 1 in large nodes is the faults of the buffer's fresh pages"},
    {"E7.6", "5.3, Merge Level, insight 3",
     "duplicate keys, PMDK transactions: an intermediate DRAM buffer is "
     "faster",
     "direct / buffered", Expect::kGreater,
     [](const Setup& s) {
       return IsDuplicate(s) && IsTransaction(s) && s.destination == MergeDestination::kBuffered;
     },
     ToDirect, NanosPerEntry,
     "the smaller snapshot saves a copy at DRAM speed, and the buffer costs one; it saves least with "
     "2way-materialized, whose last step is nearly as small as the result"},
    {"E7.7", "5.3, Merge Level, insight 1", "unique keys, PMDK transactions: 2-way is the preferred choice",
     "kway / 2way-materialized", Expect::kGreater,
     [](const Setup& s) { return IsUnique(s) && IsTransaction(s) && s.form == MergeForm::kMaterialized; },
     ToKWay, NanosPerEntry, kKWayReason},
    {"E7.8", "5.3, Merge Level, insight 2",
     "duplicate keys, No FA: K-way can be used, it is not slower than 2-way", "kway / 2way-materialized",
     Expect::kNotGreater,
     [](const Setup& s) { return IsDuplicate(s) && IsAtomic(s) && s.form == MergeForm::kMaterialized; },
     ToKWay, NanosPerEntry,
     "2-way drops duplicates in its early steps, while K-way takes each one through the whole tree"},
    {"6.1", "6",
     "the log and snapshots of PMDK transactions add a tremendous overhead against individual failure "
     "atomicity (E6 and E7)",
     "transaction / individual", Expect::kGreater,
     [](const Setup& s) { return s.atomicity == FailureAtomicity::kIndividual && !IsAuto(s); }, ToTransaction,
     NanosPerEntry, kSnapshotReason},
};

bool Agrees(Expect expect, double ratio) {
  switch (expect) {
    case Expect::kGreater:
      return ratio >= kDifference;
    case Expect::kSame:
      return ratio <= kSame && ratio >= 1 / kSame;
    case Expect::kNotGreater:
      return ratio < kDifference;
  }
  return false;
}

const Row* Find(const std::vector<Row>& rows, const Setup& setup) {
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.setup == setup; });
  return at == rows.end() ? nullptr : &*at;
}

std::string VerdictOf(uint64_t agreeing, uint64_t pairs) {
  if (pairs == 0) return "not measured";
  const double share = static_cast<double>(agreeing) / static_cast<double>(pairs);
  return share >= kHolds ? "holds" : share >= kHoldsInPart ? "holds in part" : "does not hold";
}

struct NodeRatio {
  uint64_t node_bytes;
  double ratio;
};

// Fills in what follows from the ratios.
template <typename AgreesWith>
void Summarise(const std::vector<NodeRatio>& pairs, const AgreesWith& agrees, const char* reason,
               Finding* finding) {
  std::vector<double> ratios;
  std::map<uint64_t, std::vector<double>> by_node;
  for (const auto& [node_bytes, ratio] : pairs) {
    ratios.push_back(ratio);
    by_node[node_bytes].push_back(ratio);
    if (agrees(ratio)) ++finding->agreeing;
  }
  finding->pairs = pairs.size();
  finding->verdict = VerdictOf(finding->agreeing, finding->pairs);
  if (pairs.empty()) return;
  finding->median = Median(ratios);
  finding->min = Min(ratios);
  finding->max = *std::max_element(ratios.begin(), ratios.end());
  for (const auto& [bytes, of_node] : by_node) finding->by_node.emplace_back(bytes, Median(of_node));
  if (finding->agreeing != finding->pairs) finding->reason = reason;
}

Finding Judge(const Claim& claim, const std::vector<Row>& rows) {
  Finding finding;
  finding.id = claim.id;
  finding.section = claim.section;
  finding.claim = claim.text;
  finding.ratio = claim.ratio;
  std::vector<NodeRatio> pairs;
  for (const Row& base : rows) {
    if (!claim.base(base.setup)) continue;
    Setup changed = base.setup;
    claim.change(&changed);
    const Row* const other = Find(rows, changed);
    if (other == nullptr) continue;
    pairs.push_back({base.setup.node_bytes, claim.value(*other) / claim.value(base)});
  }
  Summarise(
      pairs, [&](double ratio) { return Agrees(claim.expect, ratio); }, claim.reason, &finding);
  return finding;
}

double MediaBytes(const Row& row) { return row.cost.line_bytes + row.cost.snapshot_bytes; }

// Not the paper's: what the engine chooses by itself against the best of what can be set, merge by merge.
Finding JudgeAutomaticChoice(const std::vector<Row>& rows) {
  Finding finding;
  finding.id = "A.1";
  finding.section = "none, pmlsm's own";
  finding.claim =
      "the automatic choice writes at most 5 % more than the best fixed one (64 B lines and snapshots)";
  finding.ratio = "auto / best of streaming 2-way and K-way, direct and buffered, bytes";
  std::vector<NodeRatio> pairs;
  for (const Row& chosen : rows) {
    if (chosen.setup.experiment != Experiment::kMergeLevel || !IsAuto(chosen.setup)) continue;
    const Row* best = nullptr;
    for (const auto form : {MergeForm::kStreaming, MergeForm::kKWay}) {
      for (const auto destination : {MergeDestination::kDirect, MergeDestination::kBuffered}) {
        Setup fixed = chosen.setup;
        fixed.form = form;
        fixed.destination = destination;
        const Row* const row = Find(rows, fixed);
        if (row != nullptr && (best == nullptr || MediaBytes(*row) < MediaBytes(*best))) best = row;
      }
    }
    if (best != nullptr) pairs.push_back({chosen.setup.node_bytes, MediaBytes(chosen) / MediaBytes(*best)});
  }
  Summarise(
      pairs, [](double ratio) { return ratio <= kAutoBound; },
      "the rules of compaction/merge_choice.h are wrong", &finding);
  return finding;
}

}  // namespace

std::vector<Finding> JudgeFindings(const std::vector<Row>& rows) {
  std::vector<Finding> findings;
  for (const Claim& claim : kClaims) findings.push_back(Judge(claim, rows));
  findings.push_back(JudgeAutomaticChoice(rows));
  return findings;
}

std::string VerdictRules() {
  char text[400];
  snprintf(
      text, sizeof(text),
      "Ratios of medians of rows that differ in one choice only. A ratio agrees with \"more\" from %.2f on, "
      "with \"the same\" within a factor of %.2f, with \"not more\" below %.2f. A finding holds if %.0f %% "
      "of "
      "the pairs agree, in part if %.0f %% do.",
      kDifference, kSame, kDifference, kHolds * 100, kHoldsInPart * 100);
  return text;
}

}  // namespace pmlsm::experiments
