// WaitUntilIdle: for engines that cannot say whether a flush or a merge is due. They are taken to be done once
// the process has used no CPU time for a while: their background threads go from one merge to the next without
// a pause.
//
// Thread safety: while no other thread of the process works, but those that are waited for.
#pragma once

namespace pmlsm::bench {

// Takes at least 150 ms.
void WaitUntilIdle();

}  // namespace pmlsm::bench
