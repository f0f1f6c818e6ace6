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

bool DBImpl::MayMergeWhenIdle(const ColumnFamily& family) const {
  return !family.options.disable_auto_compactions &&
         family.options.max_size_amplification_percent != UINT32_MAX && background_error_.ok() &&
         !merge_lacks_space_ && !closing_ && !stopping_ && work_paused_ == 0 && family.merges_paused == 0 &&
         family.picker.idle() && family.version->run_count() > 1;
}

// Whether the runs, or what snapshots hold of them, have changed since they were last looked at.
bool DBImpl::IdleLookDue(const ColumnFamily& family) const {
  const bool changed =
      family.run_changes != family.idle_look_changes || snapshots_.Oldest() > family.idle_look_snapshot;
  return changed && MayMergeWhenIdle(family);
}

// A family whose runs are to be looked at; null if there is none.
ColumnFamily* DBImpl::FamilyToLookAt() const {
  for (const ColumnFamilyRef& family : families_) {
    if (IdleLookDue(*family)) return family.get();
  }
  return nullptr;
}

// Waits for work like its caller, but, where runs are to be looked at, at most as long as the DB has to be idle
// for that; then looks.
void DBImpl::WaitForWorkOrIdleness() {
  if (FamilyToLookAt() == nullptr) {
    work_.Wait(&mutex_);
    return;
  }
  const SequenceNumber before = last_sequence_.load(std::memory_order_relaxed);
  const auto began = std::chrono::steady_clock::now();
  work_.WaitFor(&mutex_, kIdlePause);
  const bool passed = std::chrono::steady_clock::now() - began >= kIdlePause;
  const bool idle = passed && last_sequence_.load(std::memory_order_relaxed) == before && !AnyFrozen();
  ColumnFamily* const family = idle ? FamilyToLookAt() : nullptr;
  if (family != nullptr) MergeIfMuchIsHidden(family);
}

void DBImpl::MergeIfMuchIsHidden(ColumnFamily* family) {
  family->idle_look_changes = family->run_changes;
  family->idle_look_snapshot = snapshots_.Oldest();
  const ColumnFamilyRef held = family->shared_from_this();  // it may be dropped meanwhile
  VersionRef version = family->version;
  const uint64_t seed = family->idle_look_changes;
  mutex_.Unlock();
  double share;
  const Status s = HiddenShare(*version, kSamples, seed, &share);
  version.reset();
  mutex_.Lock();
  if (!s.ok()) {
    log_->Write("idle: %s", s.ToString().c_str());
    return;
  }
  if (family->dropped) return;
  const double percent = AmplificationPercent(share);
  if (percent <= family->options.max_size_amplification_percent || !MayMergeWhenIdle(*family)) return;
  const std::optional<MergePick> all = family->picker.PickAll(*family->version);
  if (!all) return;
  log_->Write("merge: idle, and newer runs hide %.0f percent of the entries", 100 * share);
  (void)MergeRuns(family, *all).ok();  // what went wrong is noted inside
}

}  // namespace pmlsm
