#include "db/db_files.h"

#include <cstdio>
#include <fstream>

namespace pmlsm {

std::string LockFileName(const std::string& db) { return db + "/LOCK"; }
std::string InfoLogFileName(const std::string& db) { return db + "/LOG"; }
std::string OptionsFileName(const std::string& db) { return db + "/OPTIONS-000001"; }
std::string IdentityFileName(const std::string& db) { return db + "/IDENTITY"; }

std::vector<std::string> InfoFileNames(const std::string& db) {
  return {InfoLogFileName(db), InfoLogFileName(db) + ".old", OptionsFileName(db), IdentityFileName(db)};
}

Status WriteFile(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".tmp";
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file || rename(temporary.c_str(), path.c_str()) != 0) return Status::IOError("cannot write", path);
  return Status::OK();
}

}  // namespace pmlsm
