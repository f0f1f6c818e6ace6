// Hooks of release builds (--compilation_mode=opt): constants, so that no instruction is left of them. Other
// builds get hooks_active.h; //util:hooks picks, and both are included as util/hooks.h.
#pragma once

#include <cstdint>

#include "util/hook_listener.h"

namespace pmlsm {

struct Hooks {
  static constexpr bool kActive = false;
  constexpr void SetListener(HookListener*) const {}
  constexpr void Reached(HookPoint) const {}
  constexpr bool FailAllocation() const { return false; }
  constexpr uint64_t LargestSpan() const { return UINT64_MAX; }
};

inline constexpr Hooks hooks;

}  // namespace pmlsm
