// Hooks: where tests hold threads at named instants, and make allocations fail. Not in release builds, which get
// hooks_null.h; //util:hooks picks, and both are included as util/hooks.h.
//
// Thread safety: all calls from any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "util/hook_listener.h"

namespace pmlsm {

class Hooks {
 public:
  static constexpr bool kActive = true;

  void Reached(HookPoint point) {
    if (HookListener* const listener = Listener()) listener->Reached(point);
  }
  bool FailAllocation() {
    HookListener* const listener = Listener();
    return listener != nullptr && listener->FailAllocation();
  }

  uint64_t LargestSpan() {
    HookListener* const listener = Listener();
    return listener == nullptr ? UINT64_MAX : listener->LargestSpan();
  }

  // Null = none. The listener must outlive every DB that is open meanwhile.
  void SetListener(HookListener* listener) { listener_.store(listener, std::memory_order_release); }

 private:
  HookListener* Listener() const { return listener_.load(std::memory_order_acquire); }

  std::atomic<HookListener*> listener_{nullptr};
};

inline Hooks hooks;

}  // namespace pmlsm
