#include "test/crash/checkers.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "util/check.h"

namespace pmlsm::crash {
namespace {

constexpr unsigned kCheckSecondsMax = 60;

template <typename T>
T* SharedMemory() {
  void* const memory =
      RealMap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(memory != MAP_FAILED);
  return static_cast<T*>(memory);
}

bool ReadByte(int fd) {
  char byte;
  return read(fd, &byte, 1) == 1;
}

void WriteByte(int fd) {
  const char byte = 0;
  CHECK(write(fd, &byte, 1) == 1);
}

// A checker changes its page tables all the time, and stays on one CPU lest the others have to be told.
void StayOnOneCpu(size_t checker) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpus[checker % cpus.size()], &one);
  sched_setaffinity(0, sizeof(one), &one);
}

std::string Describe(int status, const char* text) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    if (signal == SIGALRM) return "the checker hangs";
    return std::string("the checker died: ") + strsignal(signal);
  }
  return text[0] != '\0' ? text : "the checker ended with code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Checkers::Checkers(int count, const ImagePaths& paths, const std::string& scratch, Check check) {
  signal(SIGPIPE, SIG_IGN);
  for (int i = 0; i < count; ++i) {
    Checker checker = {SharedMemory<Image>(), SharedMemory<Verdict>(), -1, -1, -1, false};
    Fork(&checker, paths, scratch + "/checker" + std::to_string(i), check);
    checkers_.push_back(checker);
  }
}

Checkers::~Checkers() {
  for (const Checker& checker : checkers_) {
    close(checker.to);
    waitpid(checker.pid, nullptr, 0);
    close(checker.from);
    RealUnmap(checker.image, sizeof(Image));
    RealUnmap(checker.verdict, sizeof(Verdict));
  }
}

// A guardian that never opens a pool, and has one thread, forks the worker and forks it anew when it dies.
void Checkers::Fork(Checker* checker, const ImagePaths& paths, const std::string& scratch,
                    const Check& check) {
  int request[2];
  int reply[2];
  CHECK(pipe2(request, O_CLOEXEC) == 0 && pipe2(reply, O_CLOEXEC) == 0);
  checker->pid = fork();
  CHECK(checker->pid >= 0);
  if (checker->pid != 0) {
    close(request[0]);
    close(reply[1]);
    checker->to = request[1];
    checker->from = reply[0];
    return;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  StayOnOneCpu(checkers_.size());
  for (const Checker& other : checkers_) close(other.to);
  close(request[1]);
  close(reply[0]);
  for (;;) {
    const pid_t worker = fork();
    if (worker == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      ImageMapper mapper(paths, scratch);
      SetHooks(&mapper);
      while (ReadByte(request[0])) {
        alarm(kCheckSecondsMax);
        mapper.Open(checker->image);
        const std::string wrong = check(scratch, checker->image->before, checker->image->after);
        if (!wrong.empty()) {
          strncpy(checker->verdict->text, wrong.c_str(), sizeof(checker->verdict->text) - 1);
          _exit(1);  // with whatever is still open
        }
        mapper.Close();
        alarm(0);
        checker->verdict->status = 0;
        WriteByte(reply[1]);
      }
      _exit(0);
    }
    int status = 0;
    CHECK(worker > 0 && waitpid(worker, &status, 0) == worker);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) _exit(0);  // no more requests
    checker->verdict->status = status;
    WriteByte(reply[1]);
  }
}

void Checkers::Collect(Checker* checker, const OnFailure& on_failure) {
  CHECK(ReadByte(checker->from));
  checker->busy = false;
  const Verdict& verdict = *checker->verdict;
  if (verdict.status != 0) on_failure(*checker->image, Describe(verdict.status, verdict.text));
}

Image* Checkers::Next(const OnFailure& on_failure) {
  Checker& checker = checkers_[next_];
  if (checker.busy) Collect(&checker, on_failure);
  return checker.image;
}

void Checkers::Submit() {
  Checker& checker = checkers_[next_];
  next_ = (next_ + 1) % checkers_.size();
  memset(checker.verdict, 0, sizeof(*checker.verdict));
  checker.busy = true;
  WriteByte(checker.to);
}

void Checkers::Drain(const OnFailure& on_failure) {
  for (Checker& checker : checkers_) {
    if (checker.busy) Collect(&checker, on_failure);
  }
}

}  // namespace pmlsm::crash
