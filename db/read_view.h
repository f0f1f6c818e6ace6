// ReadView: what a read looks at (memtables and a version), taken as one, without a lock and without a
// counter that all readers share. ViewPool: all views of a DB.
//
// A view is pinned by counts in stripes, one cache line each; a thread sticks to its stripe, and whoever
// holds the pin (an iterator, a PinnableSlice that has moved to another thread) remembers it.
//
// Why a pin is safe (views are never freed while the pool lives, only emptied and used again):
// 1. A reader pins the current view, then looks whether it is still the current one; if not, it lets go and
// retries.
// 2. The pool empties a view only when it is not the current one and then finds all its stripes zero. Both
// sides are
//    sequentially consistent: either the pool sees the pin, or the reader sees that the view is no longer
//    current.
// 3. After 2 no valid pin can appear on it, because pins are only made by 1.
//
// Thread safety: Pin and Unpin from any thread, lock-free. All else needs the DB's mutex, which guards the
// lists.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "levels/version.h"
#include "memtable/memtable.h"

namespace pmlsm {

class ReadView {
 public:
  static constexpr int kStripes = 16;

  MemTableRef active;
  std::vector<MemTableRef> frozen;  // newest first
  VersionRef version;

  void AddPin(int stripe) { stripes_[stripe].pins.fetch_add(1, std::memory_order_seq_cst); }
  void DropPin(int stripe) { stripes_[stripe].pins.fetch_sub(1, std::memory_order_seq_cst); }
  bool pinned() const;
  void Clear();

 private:
  struct alignas(64) Stripe {
    std::atomic<int64_t> pins{0};
  };
  std::array<Stripe, kStripes> stripes_;
};

// A pin that one owner holds.
struct ViewPin {
  ReadView* view = nullptr;
  int stripe = 0;
};

class ViewPool {
 public:
  ViewPool() = default;
  ViewPool(const ViewPool&) = delete;
  ViewPool& operator=(const ViewPool&) = delete;

  // A pin on the current view; view is null if the DB is closed.
  ViewPin Pin();
  static void Unpin(ViewPin pin);

  const ReadView* current() const { return current_.load(std::memory_order_acquire); }

  // Makes this state the current view; null memtable = closed, no current view.
  void Install(MemTableRef active, std::vector<MemTableRef> frozen, VersionRef version);
  // Empties views that nobody reads any more, which may free memtables and tables' space. Returns how many
  // are left.
  size_t Reclaim();
  // Live pins of all views.
  bool AnyPinned() const;

 private:
  std::atomic<ReadView*> current_{nullptr};
  std::vector<std::unique_ptr<ReadView>> views_;  // all
  std::vector<ReadView*> retired_;                // replaced, perhaps pinned
  std::vector<ReadView*> empty_;
};

}  // namespace pmlsm
