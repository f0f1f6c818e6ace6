#include "compaction/k_way_merge.h"

#include <utility>

namespace pmlsm {

KWayMerge::KWayMerge(const Comparator* comparator, Sources sources)
    : comparator_(comparator), sources_(std::move(sources)), losers_(sources_.size()) {}

// An exhausted source loses against all others.
bool KWayMerge::Before(size_t a, size_t b) const {
  if (!sources_[a]->valid() || !sources_[b]->valid()) return sources_[a]->valid();
  const Entry& left = sources_[a]->entry();
  const Entry& right = sources_[b]->entry();
  return CompareInternal(*comparator_, left.key, left.tag, right.key, right.tag) < 0;
}

// Plays all matches below `node` (1 = root; children 2n and 2n+1; nodes >= K are leaves) and returns the
// winner.
size_t KWayMerge::Build(size_t node) {
  if (node >= sources_.size()) return node - sources_.size();
  const size_t left = Build(2 * node);
  const size_t right = Build(2 * node + 1);
  const bool left_wins = Before(left, right);
  losers_[node] = left_wins ? right : left;
  return left_wins ? left : right;
}

void KWayMerge::NoteEnd(size_t source) {
  if (!sources_[source]->valid() && status_.ok()) status_ = sources_[source]->status();
}

void KWayMerge::SeekToFirst() {
  status_ = Status::OK();
  for (size_t i = 0; i < sources_.size(); ++i) {
    sources_[i]->SeekToFirst();
    NoteEnd(i);
  }
  if (!sources_.empty()) losers_[0] = Build(1);
  TakeHead();
}

void KWayMerge::Next() {
  size_t winner = losers_[0];
  sources_[winner]->Next();
  NoteEnd(winner);
  for (size_t node = (winner + sources_.size()) / 2; node >= 1; node /= 2) {
    if (Before(losers_[node], winner)) std::swap(losers_[node], winner);
  }
  losers_[0] = winner;
  TakeHead();
}

void KWayMerge::TakeHead() {
  valid_ = status_.ok() && !sources_.empty() && sources_[losers_[0]]->valid();
  if (valid_) entry_ = sources_[losers_[0]]->entry();
}

}  // namespace pmlsm
