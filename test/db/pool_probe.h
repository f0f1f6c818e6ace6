// PoolProbe: the pool and the manifest of a DB that is not open, for tests that aim at one of its structures. Opens
// a copy, since opening a pool changes it; offsets are those of the original.
#pragma once

#include <memory>
#include <string>

#include "levels/manifest.h"
#include "pmem/pool.h"
#include "test/db/db_test_support.h"

namespace pmlsm {

struct PoolProbe {
  // `copy` is a path where nothing is yet.
  PoolProbe(const std::string& db, const std::string& copy) {
    CopyTree(db, copy);
    PoolOptions options;
    options.set_dir = copy;
    options.client_bytes = kManifestAreaBytes;
    CHECK(Pool::Open(options, &pool).ok());
    bool found = false;
    CHECK(Manifest::Load(*pool, &state, &found).ok() && found);
  }

  std::unique_ptr<Pool> pool;
  ManifestState state;
};

}  // namespace pmlsm
