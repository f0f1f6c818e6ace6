#include "pmlsm/pinnable_slice.h"

namespace pmlsm {

PinnableSlice& PinnableSlice::operator=(PinnableSlice&& other) noexcept {
  if (this == &other) return *this;
  Reset();
  own_ = std::move(other.own_);
  uses_own_ = other.uses_own_;
  release_ = std::exchange(other.release_, nullptr);
  arg1_ = other.arg1_;
  arg2_ = other.arg2_;
  View(uses_own_ ? Slice(own_) : Slice(other.data(), other.size()));
  other.uses_own_ = false;
  other.View(Slice());
  return *this;
}

void PinnableSlice::Reset() {
  if (release_ != nullptr) std::exchange(release_, nullptr)(arg1_, arg2_);
  uses_own_ = false;
  View(Slice());
}

void PinnableSlice::PinSlice(const Slice& value, ReleaseFunction release, void* arg1, void* arg2) {
  Reset();
  release_ = release;
  arg1_ = arg1;
  arg2_ = arg2;
  View(value);
}

void PinnableSlice::PinSelf(const Slice& value) {
  Reset();
  own_.assign(value.data(), value.size());
  uses_own_ = true;
  View(own_);
}

}  // namespace pmlsm
