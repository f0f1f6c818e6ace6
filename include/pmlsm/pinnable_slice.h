// PinnableSlice: the value that a Get found, where it lies (in PMem or a memtable), without a copy.
//
// While it holds a value it pins the read view in which that value was found: the space is not reused, and
// Close answers Aborted. Reset() or the destructor lets go. It may be moved to another thread; one thread
// uses it at a time.
#pragma once

#include <string>
#include <utility>

#include "pmlsm/export.h"
#include "pmlsm/slice.h"

namespace pmlsm {

class PMLSM_EXPORT PinnableSlice : public Slice {
 public:
  PinnableSlice() = default;
  PinnableSlice(PinnableSlice&& other) noexcept { *this = std::move(other); }
  PinnableSlice& operator=(PinnableSlice&& other) noexcept;
  PinnableSlice(const PinnableSlice&) = delete;
  PinnableSlice& operator=(const PinnableSlice&) = delete;
  ~PinnableSlice() { Reset(); }

  // Lets go of the value; the slice is empty afterwards.
  void Reset();
  bool IsPinned() const { return release_ != nullptr; }

  // Used by the library: the bytes stay valid until release(arg1, arg2) is called, once, by Reset().
  using ReleaseFunction = void (*)(void* arg1, void* arg2);
  void PinSlice(const Slice& value, ReleaseFunction release, void* arg1, void* arg2);
  // Keeps a copy of its own.
  void PinSelf(const Slice& value);

 private:
  void View(const Slice& value) { static_cast<Slice&>(*this) = value; }

  std::string own_;
  bool uses_own_ = false;
  ReleaseFunction release_ = nullptr;
  void* arg1_ = nullptr;
  void* arg2_ = nullptr;
};

}  // namespace pmlsm
