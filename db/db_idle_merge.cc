// Merging for space when the DB is idle: entries that newer runs hide are space that nobody uses. In a tiered DB
// whose keys are written again and again, that may be several times what is live, for as long as no level is full.
#include <algorithm>
#include <chrono>
#include <string>

#include "db/db_impl.h"
#include "levels/hidden_share.h"

namespace pmlsm {
namespace {

constexpr int kSamples = 400;  // a standard deviation of 2.5 % at most

// How much more space the runs take than their live part would, percent.
double AmplificationPercent(double hidden_share) {
  constexpr double kMost = 0.999;
  return 100 / (1 - std::min(hidden_share, kMost)) - 100;
}

}  // namespace

bool DBImpl::MayMergeWhenIdle() const {
  return !options_.disable_auto_compactions && options_.max_size_amplification_percent != UINT32_MAX &&
         background_error_.ok() && !merge_lacks_space_ && !closing_ && !stopping_ && work_paused_ == 0 &&
         merges_paused_ == 0 && picker_.idle() && version_->run_count() > 1;
}

// Whether the runs, or what snapshots hold of them, have changed since they were last looked at.
bool DBImpl::IdleLookDue() const {
  const bool changed = flushes_ + merges_ != idle_look_changes_ || snapshots_.Oldest() > idle_look_snapshot_;
  return changed && MayMergeWhenIdle();
}

// Waits for work like its caller, but, where the runs are to be looked at, at most as long as the DB has to be idle
// for that; then looks.
void DBImpl::WaitForWorkOrIdleness() {
  if (!IdleLookDue()) {
    work_.Wait(&mutex_);
    return;
  }
  const SequenceNumber before = last_sequence_.load(std::memory_order_relaxed);
  const auto began = std::chrono::steady_clock::now();
  work_.WaitFor(&mutex_, kIdlePause);
  const bool passed = std::chrono::steady_clock::now() - began >= kIdlePause;
  const bool idle = passed && last_sequence_.load(std::memory_order_relaxed) == before && frozen_.empty();
  if (idle && IdleLookDue()) MergeIfMuchIsHidden();
}

void DBImpl::MergeIfMuchIsHidden() {
  idle_look_changes_ = flushes_ + merges_;
  idle_look_snapshot_ = snapshots_.Oldest();
  VersionRef version = version_;
  const uint64_t seed = idle_look_changes_;
  mutex_.Unlock();
  double share;
  const Status s = HiddenShare(*version, kSamples, seed, &share);
  version.reset();
  mutex_.Lock();
  if (!s.ok()) {
    log_->Write("idle: %s", s.ToString().c_str());
    return;
  }
  const double percent = AmplificationPercent(share);
  if (percent <= options_.max_size_amplification_percent || !MayMergeWhenIdle()) return;
  const std::optional<MergePick> all = picker_.PickAll(*version_);
  if (!all) return;
  log_->Write("merge: idle, and newer runs hide %.0f percent of the entries", 100 * share);
  (void)MergeRuns(*all).ok();  // what went wrong is noted inside
}

}  // namespace pmlsm
