// Which rows an experiment has that changes nodes.
//
// Thread safety: free functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "primitives/manual_persister.h"
#include "primitives/node_chain.h"
#include "primitives/persister.h"
#include "tools/lab/lab.h"
#include "tools/lab/layouts.h"

namespace pmlsm::lab {

template <typename Node, typename Persister>
using ChainOf = primitives::NodeChain<Node, Persister>;

// Transactions take a hundred times as long as stores.
template <typename Persister>
uint64_t OperationsOf(const Lab& lab) {
  constexpr uint64_t kFewer = 8;
  constexpr bool kLogged = std::is_base_of_v<primitives::LoggedPersister, Persister>;
  return kLogged ? std::max<uint64_t>(1, lab.config().operations / kFewer) : lab.config().operations;
}

// Calls visit(layout, persister), null pointers to their types, for
// - each layout and size, changed in place without failure atomicity, which is the paper's arrangement;
// - each layout and means of failure atomicity, at the node size that the paper recommends.
template <typename Visit>
void ForEachChange(const Lab& lab, const Visit& visit) {
  using namespace primitives;  // NOLINT: its persisters
  ForEachLayoutAndSize(lab.config().quick,
                       [&visit](auto* layout) { visit(layout, static_cast<ManualPersister*>(nullptr)); });
  constexpr size_t kNodeBytes = 1024;
  ForEachLayout<kNodeBytes>([&visit](auto* layout) {
    visit(layout, static_cast<TransactionPersister*>(nullptr));
    visit(layout, static_cast<IndividualPersister*>(nullptr));
    visit(layout, static_cast<AtomicPersister*>(nullptr));
    visit(layout, static_cast<PmwcasPersister*>(nullptr));
  });
}

}  // namespace pmlsm::lab
