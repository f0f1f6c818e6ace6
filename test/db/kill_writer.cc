// kill_writer <db> <seed> <first operation> <failure atomicity> <memtable>: applies the operations one by one
// and writes a byte to stdout after each that was acknowledged, until it is killed.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "test/db/kill_ops.h"

int main(int argc, char** argv) {
  using namespace pmlsm;
  CHECK(argc == 6);
  std::unique_ptr<DB> db;
  Status s = DB::Open(
      KillOptions(static_cast<FailureAtomicity>(atoi(argv[4])), static_cast<MemTableType>(atoi(argv[5]))),
      argv[1], &db);
  const uint64_t seed = strtoull(argv[2], nullptr, 10);
  for (uint64_t number = strtoull(argv[3], nullptr, 10); s.ok(); ++number) {
    s = KillOperation(seed, number).Apply(db.get());
    if (s.ok() && write(STDOUT_FILENO, "+", 1) != 1) return 1;
  }
  fprintf(stderr, "kill_writer: %s\n", s.ToString().c_str());
  return 1;
}
