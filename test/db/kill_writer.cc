// kill_writer <db> <seed> <failure atomicity> <memtable> <first operation>...: for each first operation a thread
// applies its operations one by one and writes its name to stdout after each that was acknowledged, until the
// process is killed.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "test/db/kill_ops.h"

namespace pmlsm {
namespace {

void Write(DB* db, uint64_t seed, size_t thread, uint64_t number) {
  const char name = KillThreadName(thread);
  for (;; ++number) {
    const Status s = KillOperation(seed, thread, number).Apply(db);
    if (!s.ok()) {
      fprintf(stderr, "kill_writer: %s\n", s.ToString().c_str());
      _exit(1);
    }
    if (write(STDOUT_FILENO, &name, 1) != 1) _exit(1);
  }
}

}  // namespace
}  // namespace pmlsm

int main(int argc, char** argv) {
  using namespace pmlsm;
  CHECK(argc >= 6);
  std::unique_ptr<DB> db;
  const Status s = DB::Open(
      KillOptions(static_cast<FailureAtomicity>(atoi(argv[3])), static_cast<MemTableType>(atoi(argv[4]))),
      argv[1], &db);
  if (!s.ok()) {
    fprintf(stderr, "kill_writer: %s\n", s.ToString().c_str());
    return 1;
  }
  const uint64_t seed = strtoull(argv[2], nullptr, 10);
  std::vector<std::thread> threads;
  for (int i = 5; i < argc; ++i)
    threads.emplace_back(Write, db.get(), seed, i - 5, strtoull(argv[i], nullptr, 10));
  for (std::thread& thread : threads) thread.join();
  return 1;
}
