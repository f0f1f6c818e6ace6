#include "db/read_view.h"

#include <algorithm>

namespace pmlsm {
namespace {

int ThisThreadsStripe() {
  static std::atomic<int> next{0};
  thread_local const int stripe = next.fetch_add(1, std::memory_order_relaxed) % ReadView::kStripes;
  return stripe;
}

}  // namespace

bool ReadView::pinned() const {
  return std::any_of(stripes_.begin(), stripes_.end(),
                     [](const Stripe& stripe) { return stripe.pins.load(std::memory_order_seq_cst) != 0; });
}

void ReadView::Clear() {
  active.reset();
  frozen.clear();
  version.reset();
}

ViewPin ViewPool::Pin() {
  const int stripe = ThisThreadsStripe();
  for (;;) {
    ReadView* const view = current_.load(std::memory_order_seq_cst);
    if (view == nullptr) return {};
    view->AddPin(stripe);
    if (view == current_.load(std::memory_order_seq_cst)) return {view, stripe};
    view->DropPin(stripe);
  }
}

void ViewPool::Unpin(ViewPin pin) { pin.view->DropPin(pin.stripe); }

void ViewPool::Install(MemTableRef active, std::vector<MemTableRef> frozen, VersionRef version) {
  ReadView* view = nullptr;
  if (active != nullptr) {
    if (empty_.empty()) {
      views_.push_back(std::make_unique<ReadView>());
      empty_.push_back(views_.back().get());
    }
    view = empty_.back();
    empty_.pop_back();
    view->active = std::move(active);
    view->frozen = std::move(frozen);
    view->version = std::move(version);
  }
  ReadView* const old = current_.exchange(view, std::memory_order_seq_cst);
  if (old != nullptr) retired_.push_back(old);
}

size_t ViewPool::Reclaim() {
  const auto pinned_end =
      std::partition(retired_.begin(), retired_.end(), [](ReadView* v) { return v->pinned(); });
  for (auto it = pinned_end; it != retired_.end(); ++it) {
    (*it)->Clear();
    empty_.push_back(*it);
  }
  retired_.erase(pinned_end, retired_.end());
  return retired_.size();
}

bool ViewPool::AnyPinned() const {
  return std::any_of(views_.begin(), views_.end(), [](const auto& view) { return view->pinned(); });
}

}  // namespace pmlsm
