// open_probe <db> once|hold: opens the DB and says "OK" or the status. "hold" writes a key first and then
// waits to be killed.
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "test/db/db_test_support.h"

int main(int argc, char** argv) {
  using namespace pmlsm;
  CHECK(argc == 3);
  std::unique_ptr<DB> db;
  Status s = DB::Open(TinyOptions(), argv[1], &db);
  const bool hold = strcmp(argv[2], "hold") == 0;
  if (s.ok() && hold) s = db->Put({}, "held", "yes");
  printf("%s\n", s.ToString().c_str());
  fflush(stdout);
  while (hold && s.ok()) pause();
  return s.ok() ? 0 : 1;
}
