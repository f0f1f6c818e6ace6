#include "pmem/hooks/persist_hooks.h"

#include <atomic>

namespace pmlsm {
namespace {

std::atomic<PersistHooks*> in_force{nullptr};
thread_local int suspended = 0;

}  // namespace

void SetPersistHooks(PersistHooks* hooks) { in_force.store(hooks, std::memory_order_release); }

PersistHooks* CurrentPersistHooks() {
  return PersistHooksSuspended::Here() ? nullptr : in_force.load(std::memory_order_acquire);
}

PersistHooksSuspended::PersistHooksSuspended() { ++suspended; }
PersistHooksSuspended::~PersistHooksSuspended() { --suspended; }
bool PersistHooksSuspended::Here() { return suspended != 0; }

}  // namespace pmlsm
