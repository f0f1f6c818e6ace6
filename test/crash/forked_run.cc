#include "test/crash/forked_run.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "test/crash/hooks.h"
#include "util/check.h"

namespace pmlsm::crash {
namespace {

void NoteFailure(Report* report, const std::string& what) {
  if (report->failures++ != 0) return;
  snprintf(report->first_failure, sizeof(report->first_failure), "%s", what.c_str());
}

}  // namespace

ScratchDirectory::ScratchDirectory() {
  char path[] = "/dev/shm/pmlsm-crash-XXXXXX";
  CHECK(mkdtemp(path) != nullptr);
  path_ = path;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (!kept_) std::filesystem::remove_all(path_, ignored);
}

Report RunForked(unsigned seconds_max, const std::function<std::string(Report*)>& run) {
  void* const memory =
      RealMap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  Report* const shared = static_cast<Report*>(memory);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(seconds_max);
    const std::string wrong = run(shared);
    if (!wrong.empty()) NoteFailure(shared, wrong);
    shared->finished = true;
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  if (!shared->finished) {
    NoteFailure(shared, WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM
                            ? "the program hangs"
                            : "the program died, wait status " + std::to_string(status));
  }
  const Report report = *shared;
  RealUnmap(memory, sizeof(Report));
  return report;
}

}  // namespace pmlsm::crash
