// Looking into a DB that is not open, and copying what can be read of one that is damaged. Both read the pool's
// files themselves (pmem/raw_pool.h), so they work where libpmemobj refuses or crashes, and change nothing in
// the DB's directory. They take the DB's locks: IOError with "lock" if it is open.
//
// What counts as damage, what is lost and what is not is told in doc/ARCHITECTURE.md, "Check and salvage".
//
// Thread safety: free functions; one call at a time in a process (see RawPool).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pmlsm/options.h"
#include "pmlsm/status.h"

namespace pmlsm {

// Something that is not as it was written.
struct DamagedPiece {
  std::string structure;  // "table 12 of run 5, level 1"
  std::string place;      // "offset 81920 (000001.pmem, byte 4096)"
  std::string what;
  bool loses_data = false;  // else all that it tells is known otherwise
  // User keys of the entries that are lost lie in [from, to]; no value: not known.
  std::optional<std::string> from;
  std::optional<std::string> to;

  // One line, for people.
  std::string ToString() const;
};

struct OfflineReport {
  std::vector<DamagedPiece> damages;
  std::vector<std::string> notes;  // worth knowing, but no damage
  uint64_t tables = 0;
  uint64_t entries = 0;      // in tables, that verify
  uint64_t log_records = 0;  // that verify and count
  uint64_t keys_copied = 0;  // SalvageDB only

  bool whole() const { return damages.empty(); }
  bool loses_data() const;
};

// `options`: pool_file, and comparator if that of some family is not one of the library's own. OK whatever damage is
// found. Other errors: there is no pool, it is open, a comparator that is not known, a later format.
Status CheckDB(const Options& options, const std::string& name, OfflineReport* report);

struct SalvageOptions {
  // Of the DB to be made, whose pool is in its directory; pool_file says where the damaged one's pool is.
  // max_pmem_bytes = 0: as large as the damaged one's.
  Options options;
  // Also tables that nothing names any more: all that is left when the manifest is lost. Tables that merges
  // have replaced are among them, so that deleted keys and old values may come back.
  bool unnamed_tables = false;
};
// Makes a DB in new_name, which must not have one, of the newest version of each key that can be read, in column
// families of the same names, all with the options given but for their comparators. The
// report lists damage as it is met: of filters and indexes, which are not read, it says nothing. On an error the
// new DB may be there in part.
Status SalvageDB(const SalvageOptions& options, const std::string& name, const std::string& new_name,
                 OfflineReport* report);

}  // namespace pmlsm
