// The commands of the pmlsm tool. Each has a struct of its arguments, which main.cc fills, and a function
// that runs it on an open DB, or, for check and salvage, on one that is not open, or, for probe, on none, and returns
// the process's exit code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pmlsm/db.h"

namespace pmlsm::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitNotFound = 1;
inline constexpr int kExitDamage = 1;
inline constexpr int kExitError = 2;

// Prints "pmlsm: <what>: <status>" on stderr; kExitError.
int Failed(const std::string& what, const Status& s);

struct LoadArguments {
  std::string file = "-";  // "-" = stdin
  bool stanzas = false;    // Debian control stanzas instead of key<TAB>value lines
  uint64_t batch_size = 1000;
  uint64_t progress_every = 10000;  // entries; 0 = silent
};
// A progress line is printed once all the entries that it counts are durable.
int Load(DB* db, const LoadArguments& arguments);

struct KeyArguments {
  std::string key;
  std::string value;  // of put
  bool hex = false;   // key and value are in hexadecimal, in and out
};
int Get(DB* db, const KeyArguments& arguments);
int Put(DB* db, const KeyArguments& arguments);
int Delete(DB* db, const KeyArguments& arguments);

struct ScanArguments {
  std::string prefix;
  std::string from;    // first key
  std::string to;      // first key that is not printed any more
  uint64_t limit = 0;  // 0 = all
  bool reverse = false;
  bool keys_only = false;
  bool hex = false;  // what is given and what is printed
};
int Scan(DB* db, const ScanArguments& arguments);

struct StatsArguments {
  std::vector<std::string> properties;  // none = the usual ones
};
int Stats(DB* db, const StatsArguments& arguments);

// Prints the names of the column families of a DB that is not open, a line each.
int Families(const std::string& db_path, const Options& options);

// Reads a DB that is not open and prints a line for each damaged piece. kExitDamage if there is any.
int Check(const std::string& db_path, const Options& options);

struct SalvageArguments {
  std::string new_path;
  bool unnamed_tables = false;
};
// Copies what can be read to a new DB and prints a line for each damaged piece. kExitDamage if there is any.
int Salvage(const std::string& db_path, const Options& options, const SalvageArguments& arguments);

struct ProbeArguments {
  uint64_t bytes = 256 << 20;  // that are read and written at random
};
// Prints the DeviceProfile of the directory's medium, in JSON, and the medium on stderr.
int Probe(const std::string& directory, const ProbeArguments& arguments);

}  // namespace pmlsm::cli
