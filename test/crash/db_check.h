// DbCheck: what must hold of a DB after a power failure. 1. It opens. 2. Each writer's keys hold what some
// number of its operations leaves, no fewer than were acknowledged and no more than were started: no write
// lost, no half batch (across families too), no phantom. 3. Scans both ways and Get agree. 4. Its structures are sound. 5. It takes
// writes, closes, and opens again with the same content.
//
// Thread safety: one thread. Made anew for each run; images come in the order of the run.
#pragma once

#include <string>
#include <vector>

#include "pmlsm/db.h"
#include "test/crash/db_run.h"

namespace pmlsm::crash {

class DbCheck {
 public:
  explicit DbCheck(const DbRunConfig& config);

  // "" = all holds.
  std::string Check(const std::string& directory, const DbOracle& before, const DbOracle& after);

 private:
  struct Model {
    History history;
    uint64_t operations = 0;
    Content content;  // after that many
  };
  std::string CheckContent(const Content& content, const DbOracle& before, const DbOracle& after);
  std::string CheckWriter(const Content& content, uint64_t at_least, uint64_t at_most, Model* model) const;
  std::string CheckUse(const DbHandles& opened, Content* content);

  const DbRunConfig config_;
  std::vector<Model> models_;
  uint64_t images_ = 0;
};

}  // namespace pmlsm::crash
