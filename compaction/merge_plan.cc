#include "compaction/merge_plan.h"

#include <algorithm>
#include <utility>

namespace pmlsm {
namespace {

struct Place {
  size_t input;
  size_t table;
};

const Table& TableAt(const std::vector<std::shared_ptr<const Run>>& inputs, const Place& place) {
  return inputs[place.input]->tables()[place.table]->table();
}

// All tables by their smallest key; those of a run stay in their order.
std::vector<Place> InKeyOrder(const Comparator* comparator,
                              const std::vector<std::shared_ptr<const Run>>& inputs) {
  std::vector<Place> places;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t t = 0; t < inputs[i]->tables().size(); ++t) places.push_back({i, t});
  }
  std::stable_sort(places.begin(), places.end(), [&](const Place& a, const Place& b) {
    return comparator->Compare(TableAt(inputs, a).smallest(), TableAt(inputs, b).smallest()) < 0;
  });
  return places;
}

// The tables [begin[i], end[i]) of each input i, to be merged.
MergePiece PieceOf(const Comparator* comparator, const std::vector<std::shared_ptr<const Run>>& inputs,
                   const std::vector<size_t>& begin, const std::vector<size_t>& end) {
  MergePiece piece;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (begin[i] == end[i]) continue;
    const Run& run = *inputs[i];
    std::vector<TableRef> tables(run.tables().begin() + begin[i], run.tables().begin() + end[i]);
    piece.inputs.push_back(std::make_shared<const Run>(comparator, run.number(), std::move(tables),
                                                       run.has_live_lower(), run.live_lower()));
  }
  return piece;
}

}  // namespace

std::vector<MergePiece> PlanMerge(const MergePlanRules& rules,
                                  const std::vector<std::shared_ptr<const Run>>& inputs) {
  const std::vector<Place> places = InKeyOrder(rules.comparator, inputs);
  const auto wholly_live = [&](const Place& place) {
    const Run& run = *inputs[place.input];
    return !run.has_live_lower() ||
           rules.comparator->Compare(run.live_lower(), TableAt(inputs, place).smallest()) <= 0;
  };
  const auto stays_as_it_is = [&](const Place& place) {
    const Table& table = TableAt(inputs, place);
    const TableHeader& header = table.header();
    return table.span().bytes >= rules.table_bytes_min && wholly_live(place) &&
           header.entries == header.user_keys && (header.tombstones == 0 || rules.keeps_tombstones(table));
  };
  std::vector<MergePiece> pieces;
  std::vector<size_t> begin(inputs.size(), 0);  // of the piece to be merged that is being gathered
  std::vector<size_t> end(inputs.size(), 0);
  const auto end_piece = [&] {
    MergePiece piece = PieceOf(rules.comparator, inputs, begin, end);
    if (!piece.inputs.empty()) pieces.push_back(std::move(piece));
    begin = end;
  };
  Slice largest;  // of all tables before this one
  for (size_t p = 0; p < places.size(); ++p) {
    const Table& table = TableAt(inputs, places[p]);
    const auto less = [&](const Slice& a, const Slice& b) { return rules.comparator->Compare(a, b) < 0; };
    const bool apart =
        (p == 0 || less(largest, table.smallest())) &&
        (p + 1 == places.size() || less(table.largest(), TableAt(inputs, places[p + 1]).smallest()));
    if (p == 0 || less(largest, table.largest())) largest = table.largest();
    size_t* const input_end = &end[places[p].input];
    if (apart && stays_as_it_is(places[p])) {
      end_piece();
      pieces.push_back({inputs[places[p].input]->tables()[places[p].table], {}});
      begin[places[p].input] = ++*input_end;
    } else {
      ++*input_end;
    }
  }
  end_piece();
  return pieces;
}

}  // namespace pmlsm
