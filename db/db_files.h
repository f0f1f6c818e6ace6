// Names of the files beside the pool in a DB's directory, and writing one whole.
//
// Thread safety: free functions.
#pragma once

#include <string>
#include <vector>

#include "pmlsm/status.h"

namespace pmlsm {

std::string LockFileName(const std::string& db);
std::string InfoLogFileName(const std::string& db);
std::string OptionsFileName(const std::string& db);
std::string IdentityFileName(const std::string& db);
// All but the lock file.
std::vector<std::string> InfoFileNames(const std::string& db);

// Under a temporary name, then renamed: the file is old or new.
Status WriteFile(const std::string& path, const std::string& text);

}  // namespace pmlsm
