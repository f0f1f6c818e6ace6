// Simulator: power failures while a program runs. The fault model, and what is and is not simulated:
// doc/CRASH.md.
//
//   Simulator* simulator = Simulator::Start(plan, sizeof(Oracle), check, report);
//   ... a program that works in plan.LiveDirectory() and keeps simulator->oracle() ...
//   simulator->Finish();
//
// At each chosen fence, and each change of names in the directory, the simulator stops all threads that would
// fence or flush, builds images of what the medium could hold, and has each opened by a checker.
//
// Thread safety: the program's threads may do what they like; the methods are for one of them.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "test/crash/checkers.h"
#include "test/crash/flushed_lines.h"
#include "test/crash/hooks.h"
#include "test/crash/medium.h"
#include "test/crash/report.h"
#include "test/crash/seen_images.h"
#include "util/random.h"

namespace pmlsm::crash {

struct Plan {
  std::string scratch;  // an existing directory, on tmpfs; the live directory, twins and checkers live in it
  std::string start;    // becomes the live directory, on the same file system; "" = an empty one
  uint64_t seed = 1;
  int checkers = 4;
  int random_images = 4;  // of each point, beside the fixed ones
  bool at_flushes = false;
  int captures = 0;        // images, from all over the run, to be kept in CaptureDirectory(0), ...
  double seconds_max = 0;  // no more points after that; 0 = no limit

  std::string LiveDirectory() const { return scratch + "/live"; }
  std::string CaptureDirectory(int i) const { return scratch + "/capture" + std::to_string(i); }
};

// Beside a kept image: the oracles, as they were.
inline constexpr char kKeptImageDirectory[] = "/image";
inline constexpr char kKeptOracleBefore[] = "/oracle_before";
inline constexpr char kKeptOracleAfter[] = "/oracle_after";

class Simulator : private Hooks {
 public:
  // In a process with one thread and no pool; there is one simulator a process.
  static Simulator* Start(const Plan& plan, size_t oracle_bytes, Check check, Report* report);

  // Zeros at first. The program writes down what it has started and what was acknowledged, in words.
  void* oracle() { return oracle_.data(); }

  // From here on the power fails at one in `one_in` instants, chosen at random; 0: it does not fail.
  void SetPhase(const std::string& name, uint64_t one_in);

  // No more power failures. The checkers end with the process.
  void Finish();

 private:
  struct Candidates {
    std::vector<LinePatch> lines;  // pending ones first
    size_t pending = 0;
  };

  Simulator(const Plan& plan, size_t oracle_bytes, Check check, Report* report);

  void Flush(const void* from, size_t bytes) override;
  void Fence() override;
  void BeforeFileOperation(const char* name) override;
  void* Map(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) override;
  int Unmap(void* address, size_t bytes) override;

  FlushedLines::Lines* MyLines();
  bool PowerFailsNow();
  void PowerFailure(const char* instant);
  void FindCandidates(Candidates* candidates);
  void ChooseLines(int image, const Candidates& candidates, Image* chosen);
  int SlotToCapture();
  void ChooseAtRandom(const Candidates& candidates, bool torn, Image* chosen);
  void NoteFailure(const Image& image, const std::string& what);
  void Keep(const Image& image, const std::string& directory) const;

  const Plan plan_;
  const ImagePaths paths_;
  Report* const report_;
  const double end_time_;
  std::vector<char> oracle_;

  std::mutex mutex_;  // guards all below
  Checkers checkers_;
  Medium medium_;
  FlushedLines flushed_;
  Random random_;
  uint64_t one_in_ = 0;
  uint64_t images_ = 0;
  std::string instant_;  // the one that is being checked
  SeenImages seen_;
};

}  // namespace pmlsm::crash
