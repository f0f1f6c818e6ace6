#include "tools/lab/access_tracer.h"

namespace pmlsm::lab {

bool AccessTracer::Available() { return false; }
void AccessTracer::Watch(Watched, const void*, size_t) {}
void AccessTracer::Start() {}
void AccessTracer::Stop() {}
LinesRead AccessTracer::Seen(Watched) { return {}; }
PersistCounts AccessTracer::Persisted() { return {}; }

}  // namespace pmlsm::lab
