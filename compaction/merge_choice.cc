#include "compaction/merge_choice.h"

#include <cstdio>

#include "util/check.h"

namespace pmlsm {
namespace {

// 2-way costs more instructions than K-way the more inputs there are, and relatively more the more entries are
// dropped: with 8 inputs 4.4 % if none is, 5 % if a quarter is; with 16 inputs 6.5 % and more.
constexpr size_t kTwoWayInputsMax = 8;
// From this share on a level has many duplicates; down to the lower one it has them still.
constexpr double kManyDuplicates = 0.25;
constexpr double kFewDuplicates = 0.15;
// The weight of a merge, of that of the next one.
constexpr double kMemory = 0.5;
// Choices that ToString shows.
constexpr size_t kPastMax = 16;

std::string Percent(double share) {
  char text[32];
  snprintf(text, sizeof(text), "%.0f %%", share * 100);
  return text;
}

}  // namespace

MergeChooser::MergeChooser(const Setting& setting) : setting_(setting) {
  if (setting_.destination != MergeDestination::kAuto) {
    destination_ = setting_.destination;
    destination_reason_ = "set by merge_destination";
  } else if (setting_.atomicity == FailureAtomicity::kTransaction) {
    destination_ = MergeDestination::kBuffered;
    destination_reason_ = "the transaction snapshots only what is copied";
  } else {
    destination_ = MergeDestination::kDirect;
    destination_reason_ = "nothing is snapshotted";
  }
}

void MergeChooser::Measured::Add(uint64_t entries_read, uint64_t entries_dropped) {
  read = kMemory * read + static_cast<double>(entries_read);
  dropped = kMemory * dropped + static_cast<double>(entries_dropped);
}

MergeChooser::Level& MergeChooser::LevelAt(int level) {
  CHECK(level >= 0);
  if (static_cast<size_t>(level) >= levels_.size()) levels_.resize(static_cast<size_t>(level) + 1);
  return levels_[static_cast<size_t>(level)];
}

void MergeChooser::NoteMerge(int output_level, uint64_t entries_read, uint64_t entries_dropped) {
  if (entries_read == 0) return;  // tables that were only moved say nothing
  CHECK(entries_dropped <= entries_read);
  LevelAt(output_level).measured.Add(entries_read, entries_dropped);
  all_.Add(entries_read, entries_dropped);
}

bool MergeChooser::HasManyDuplicates(int level, std::string* why) {
  Level& at = LevelAt(level);
  const Measured& measured = at.measured.known() ? at.measured : all_;
  const double share = measured.share();
  if (share >= kManyDuplicates) {
    at.many_duplicates = true;
  } else if (share <= kFewDuplicates) {
    at.many_duplicates = false;
  }
  *why = !measured.known() ? "no merge measured yet"
                           : Percent(share) + " duplicates in merges into " +
                                 (at.measured.known() ? "this level" : "other levels");
  return at.many_duplicates;
}

MergeOrder MergeChooser::ChooseOrder(int level, size_t inputs, std::string* reason) {
  if (setting_.order != MergeOrder::kAuto) {
    *reason = "set by merge_order";
    return setting_.order;
  }
  if (inputs <= 2) {
    *reason = "two inputs";
    return MergeOrder::k2Way;
  }
  if (setting_.medium != Medium::kDax) {
    *reason = std::string("more than two inputs, ") + pmlsm::ToString(setting_.medium);
    return MergeOrder::kKWay;
  }
  if (inputs > kTwoWayInputsMax) {
    *reason = "more than " + std::to_string(kTwoWayInputsMax) + " inputs";
    return MergeOrder::kKWay;
  }
  return HasManyDuplicates(level, reason) ? MergeOrder::kKWay : MergeOrder::k2Way;
}

MergeChoice MergeChooser::Choose(int output_level, size_t inputs) {
  MergeChoice choice;
  std::string order_reason;
  choice.order = ChooseOrder(output_level, inputs, &order_reason);
  choice.destination = destination_;
  choice.reason = std::string(pmlsm::ToString(choice.order)) + " (" + order_reason + "), " +
                  pmlsm::ToString(choice.destination) + " (" + destination_reason_ + ")";
  ++counts_[static_cast<size_t>(choice.order)][static_cast<size_t>(choice.destination)];
  past_.push_front({++choices_, output_level, inputs, choice});
  if (past_.size() > kPastMax) past_.pop_back();
  return choice;
}

std::string MergeChooser::ToString() const {
  std::string text = std::string("Medium: ") + pmlsm::ToString(setting_.medium) +
                     ", failure atomicity: " + pmlsm::ToString(setting_.atomicity) +
                     ", merge_order: " + pmlsm::ToString(setting_.order) +
                     ", merge_destination: " + pmlsm::ToString(setting_.destination) + "\n";
  text += "Duplicates measured: " + (all_.known() ? Percent(all_.share()) : "none yet");
  for (size_t level = 0; level < levels_.size(); ++level) {
    if (!levels_[level].measured.known()) continue;
    text += ", into level " + std::to_string(level) + ": " + Percent(levels_[level].measured.share());
  }
  text += "\n";
  for (const auto order : {MergeOrder::k2Way, MergeOrder::kKWay}) {
    for (const auto destination : {MergeDestination::kDirect, MergeDestination::kBuffered}) {
      text += std::string("Chosen ") + pmlsm::ToString(order) + " " + pmlsm::ToString(destination) + ": " +
              std::to_string(counts_[static_cast<size_t>(order)][static_cast<size_t>(destination)]) + "\n";
    }
  }
  for (const Past& past : past_) {
    text += "Choice " + std::to_string(past.number) + ": " + std::to_string(past.inputs) +
            " runs into level " + std::to_string(past.output_level) + ": " + past.choice.reason + "\n";
  }
  return text;
}

}  // namespace pmlsm
