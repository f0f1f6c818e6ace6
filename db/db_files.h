// Names of the files beside the pool in a DB's directory.
//
// Thread safety: free functions.
#pragma once

#include <string>
#include <vector>

namespace pmlsm {

std::string LockFileName(const std::string& db);
std::string InfoLogFileName(const std::string& db);
std::string OptionsFileName(const std::string& db);
std::string IdentityFileName(const std::string& db);
// All but the lock file.
std::vector<std::string> InfoFileNames(const std::string& db);

}  // namespace pmlsm
