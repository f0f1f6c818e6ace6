#include "db/db_files.h"

namespace pmlsm {

std::string LockFileName(const std::string& db) { return db + "/LOCK"; }
std::string InfoLogFileName(const std::string& db) { return db + "/LOG"; }
std::string OptionsFileName(const std::string& db) { return db + "/OPTIONS-000001"; }
std::string IdentityFileName(const std::string& db) { return db + "/IDENTITY"; }

std::vector<std::string> InfoFileNames(const std::string& db) {
  return {InfoLogFileName(db), InfoLogFileName(db) + ".old", OptionsFileName(db), IdentityFileName(db)};
}

}  // namespace pmlsm
