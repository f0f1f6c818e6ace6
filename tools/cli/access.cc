// get, put and del: one key.
#include <cstdio>

#include "tools/cli/commands.h"
#include "tools/cli/hex.h"

namespace pmlsm::cli {

int Get(DB* db, const KeyArguments& arguments) {
  std::string key;
  Status s = Decode(arguments.key, arguments.hex, &key);
  if (!s.ok()) return Failed("get", s);
  PinnableSlice value;
  s = db->Get(ReadOptions(), key, &value);
  if (s.IsNotFound()) {
    fprintf(stderr, "pmlsm: not found: %s\n", arguments.key.c_str());
    return kExitNotFound;
  }
  if (!s.ok()) return Failed("get", s);
  Print(value, arguments.hex);
  putchar('\n');
  return kExitOk;
}

int Put(DB* db, const KeyArguments& arguments) {
  std::string key, value;
  Status s = Decode(arguments.key, arguments.hex, &key);
  if (s.ok()) s = Decode(arguments.value, arguments.hex, &value);
  if (s.ok()) s = db->Put(WriteOptions(), key, value);
  return s.ok() ? kExitOk : Failed("put", s);
}

int Delete(DB* db, const KeyArguments& arguments) {
  std::string key;
  Status s = Decode(arguments.key, arguments.hex, &key);
  if (s.ok()) s = db->Delete(WriteOptions(), key);
  return s.ok() ? kExitOk : Failed("del", s);
}

}  // namespace pmlsm::cli
