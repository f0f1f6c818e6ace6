#include "test/crash/simulator.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <unordered_map>
#include <utility>

#include "util/check.h"

namespace pmlsm::crash {
namespace {

namespace fs = std::filesystem;

// The images that every point has, beside the random ones.
enum FixedImage : int { kNothing, kPending, kEverything, kDirtyOnly, kFixedImages };
constexpr const char* kFixedNames[] = {"nothing pending", "all pending", "everything", "dirty lines only"};

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string MakeDirectories(const Plan& plan) {
  fs::create_directories(plan.scratch + "/twins");
  if (plan.start.empty()) {
    fs::create_directories(plan.LiveDirectory());
  } else {
    fs::rename(plan.start, plan.LiveDirectory());
  }
  return plan.scratch + "/twins";
}

void WriteFile(const std::string& path, const void* bytes, size_t count) {
  std::ofstream(path, std::ios::binary)
      .write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
}

}  // namespace

Simulator* Simulator::Start(const Plan& plan, size_t oracle_bytes, Check check, Report* report) {
  Simulator* const simulator = new Simulator(plan, oracle_bytes, std::move(check), report);
  SetHooks(simulator);
  return simulator;
}

Simulator::Simulator(const Plan& plan, size_t oracle_bytes, Check check, Report* report)
    : plan_(plan),
      paths_{plan.LiveDirectory(), MakeDirectories(plan)},
      report_(report),
      end_time_(plan.seconds_max == 0 ? 0 : Now() + plan.seconds_max),
      oracle_(oracle_bytes),
      checkers_(plan.checkers, paths_, plan.scratch, std::move(check)),
      medium_(paths_.live, paths_.twins),
      random_(plan.seed) {
  CHECK(oracle_bytes <= kOracleBytesMax);
  SetPhase("", 0);
}

void Simulator::SetPhase(const std::string& name, uint64_t one_in) {
  CHECK(name.size() < sizeof(PhaseReport::name));
  const std::lock_guard<std::mutex> lock(mutex_);
  one_in_ = one_in;
  const auto named = [&](const PhaseReport& phase) { return name == phase.name; };
  PhaseReport* const end = report_->phase + report_->phases;
  PhaseReport* const known = std::find_if(report_->phase, end, named);
  if (known == end) {
    CHECK(report_->phases < kPhasesMax);
    ++report_->phases;
    strncpy(known->name, name.c_str(), sizeof(known->name) - 1);
  }
  // The last one is the present one.
  std::rotate(known, known + 1, report_->phase + report_->phases);
}

void Simulator::Finish() {
  SetHooks(nullptr);
  const std::lock_guard<std::mutex> lock(mutex_);
  one_in_ = 0;
}

FlushedLines::Lines* Simulator::MyLines() {
  thread_local FlushedLines::Lines* const lines = flushed_.NewThread();
  return lines;
}

void Simulator::Flush(const void* from, size_t bytes) {
  if (bytes == 0) return;
  const HooksSuspended suspended;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(from) & ~(kLineBytes - 1);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(from) + bytes + kLineBytes - 1) & ~(kLineBytes - 1);
  const char* const first = reinterpret_cast<const char*>(begin);

  const std::lock_guard<std::mutex> lock(mutex_);
  ++report_->flushes;
  for (size_t done = 0; done < end - begin;) {
    Place place;
    size_t count = end - begin - done;
    if (!medium_.Find(first + done, &count, &place)) {
      ++report_->strangers;
      return;
    }
    flushed_.Add(MyLines(), first + done, count, place);
    done += count;
  }
  if (plan_.at_flushes && PowerFailsNow()) PowerFailure("flush");
}

// 1. The power fails: what this thread flushed may or may not have arrived. 2. It has arrived.
void Simulator::Fence() {
  const HooksSuspended suspended;
  const std::lock_guard<std::mutex> lock(mutex_);
  FlushedLines::Lines* const lines = MyLines();
  ++report_->phase[report_->phases - 1].fences;
  if (lines->empty()) return;
  if (PowerFailsNow()) PowerFailure("fence");
  for (const FlushedLines::Line& line : *lines) medium_.Commit(line.patch, line.stamp);
  lines->clear();
}

void Simulator::BeforeFileOperation(const char* name) {
  const HooksSuspended suspended;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (PowerFailsNow()) PowerFailure(name);
  seen_.NoteFileOperation();
}

void* Simulator::Map(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) {
  constexpr int kKinds = 0xf;
  const HooksSuspended suspended;
  void* const mapping = RealMap(address, bytes, protection, flags, fd, offset);
  if (mapping == MAP_FAILED || fd < 0 || (flags & kKinds) == MAP_PRIVATE) return mapping;
  const std::lock_guard<std::mutex> lock(mutex_);
  medium_.NoteMapping(mapping, bytes, fd, static_cast<uint64_t>(offset));
  return mapping;
}

int Simulator::Unmap(void* address, size_t bytes) {
  const HooksSuspended suspended;
  const std::lock_guard<std::mutex> lock(mutex_);
  medium_.DropMapping(address, bytes);
  return RealUnmap(address, bytes);
}

// One failure is enough: what follows would be the same one.
bool Simulator::PowerFailsNow() {
  if (one_in_ == 0 || report_->failures != 0 || !random_.OneIn(one_in_)) return false;
  return end_time_ == 0 || Now() < end_time_;
}

void Simulator::PowerFailure(const char* instant) {
  PhaseReport* const phase = &report_->phase[report_->phases - 1];
  ++phase->points;
  const double begin = Now();
  instant_ = std::string(phase->name) + ", " + instant + " " + std::to_string(phase->fences);
  char before[kOracleBytesMax];
  memcpy(before, oracle_.data(), oracle_.size());
  std::atomic_thread_fence(std::memory_order_seq_cst);
  Candidates candidates;
  FindCandidates(&candidates);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  char after[kOracleBytesMax];
  memcpy(after, oracle_.data(), oracle_.size());

  const std::vector<MediumFile> files = medium_.Files();
  CHECK(files.size() <= kFilesMax);
  const auto on_failure = [this](const Image& image, const std::string& what) { NoteFailure(image, what); };
  for (int i = 0; i < kFixedImages + plan_.random_images; ++i) {
    Image* const image = checkers_.Next(on_failure);
    ChooseLines(i, candidates, image);
    image->files = files.size();
    std::copy(files.begin(), files.end(), image->file);
    memcpy(image->before, before, oracle_.size());
    memcpy(image->after, after, oracle_.size());
    const SeenImages::Verdict verdict = seen_.Add(*image, medium_);
    if (!verdict.to_check) {
      ++phase->duplicates;
      continue;
    }
    if (verdict.distinct) ++phase->distinct;
    const int slot = SlotToCapture();
    if (slot >= 0) Keep(*image, plan_.CaptureDirectory(slot));
    checkers_.Submit();
    ++phase->images;
  }
  checkers_.Drain(on_failure);
  phase->seconds += Now() - begin;
}

// Where this image is to be kept, or -1. A reservoir: at the end each image has had the same chance.
int Simulator::SlotToCapture() {
  ++images_;
  if (report_->captured < plan_.captures) return report_->captured++;
  const uint64_t slot = random_.Uniform(images_);
  return slot < static_cast<uint64_t>(plan_.captures) ? static_cast<int>(slot) : -1;
}

void Simulator::FindCandidates(Candidates* candidates) {
  const auto key = [](const LinePatch& line) { return line.offset * kFilesMax + line.file; };
  std::unordered_map<uint64_t, size_t> newest;
  for (const FlushedLines::Line& line : flushed_.Pending(medium_)) {
    newest[key(line.patch)] = candidates->lines.size();
    candidates->lines.push_back(line.patch);
  }
  candidates->pending = candidates->lines.size();
  medium_.AppendDirty(&candidates->lines, kImageLinesMax);
  // A line that has not changed since it was flushed is pending, not dirty.
  const auto first_dirty = candidates->lines.begin() + static_cast<ptrdiff_t>(candidates->pending);
  const auto end = std::remove_if(first_dirty, candidates->lines.end(), [&](const LinePatch& line) {
    const auto flushed = newest.find(key(line));
    return flushed != newest.end() &&
           memcmp(candidates->lines[flushed->second].bytes, line.bytes, kLineBytes) == 0;
  });
  candidates->lines.erase(end, candidates->lines.end());
  candidates->lines.resize(std::min(candidates->lines.size(), kImageLinesMax));
  const uint64_t dirty = candidates->lines.size() - candidates->pending;
  report_->lines_pending_max = std::max<uint64_t>(report_->lines_pending_max, candidates->pending);
  report_->lines_dirty_max = std::max(report_->lines_dirty_max, dirty);
}

void Simulator::ChooseLines(int image, const Candidates& candidates, Image* chosen) {
  chosen->lines = 0;
  if (image < kFixedImages) {
    snprintf(chosen->kind, sizeof(chosen->kind), "%s", kFixedNames[image]);
    for (size_t i = 0; i < candidates.lines.size(); ++i) {
      const bool pending = i < candidates.pending;
      const bool wanted =
          image == kEverything || (image == kPending && pending) || (image == kDirtyOnly && !pending);
      if (wanted) chosen->line[chosen->lines++] = candidates.lines[i];
    }
  } else {
    ChooseAtRandom(candidates, image % 2 == 1, chosen);
  }
}

// Of many subsets few matter: those that lack one line, hold one line, or end somewhere in the order of the
// flushes are the ones that show a wrong order.
void Simulator::ChooseAtRandom(const Candidates& candidates, bool torn, Image* chosen) {
  const size_t count = candidates.lines.size();
  const uint64_t recipe = random_.Uniform(6);
  snprintf(chosen->kind, sizeof(chosen->kind), "random subset %d%s", static_cast<int>(recipe),
           torn ? ", torn" : "");
  if (count == 0) return;
  const size_t pivot = random_.Uniform(count);
  for (size_t i = 0; i < count; ++i) {
    bool wanted = false;
    switch (recipe) {
      case 0:
        wanted = random_.OneIn(2);
        break;
      case 1:
        wanted = random_.OneIn(8);
        break;
      case 2:
        wanted = !random_.OneIn(8);
        break;
      case 3:
        wanted = i != pivot;
        break;
      case 4:
        wanted = i == pivot;
        break;
      case 5:
        wanted = i <= pivot;
        break;
    }
    if (!wanted) continue;
    LinePatch& line = chosen->line[chosen->lines++];
    line = candidates.lines[i];
    if (torn && random_.OneIn(2)) line.words = static_cast<uint8_t>(random_.Next() >> 56);
  }
}

void Simulator::NoteFailure(const Image& image, const std::string& what) {
  if (report_->failures++ != 0) return;
  snprintf(report_->first_failure, sizeof(report_->first_failure),
           "power failure in phase %s, image \"%s\": %s", instant_.c_str(), image.kind, what.c_str());
  const std::string directory = plan_.scratch + "/failure";
  Keep(image, directory);
  snprintf(report_->first_failure_image, sizeof(report_->first_failure_image), "%s", directory.c_str());
}

void Simulator::Keep(const Image& image, const std::string& directory) const {
  fs::remove_all(directory);
  fs::create_directories(directory);
  CopyImage(image, paths_, directory + kKeptImageDirectory);
  WriteFile(directory + kKeptOracleBefore, image.before, oracle_.size());
  WriteFile(directory + kKeptOracleAfter, image.after, oracle_.size());
}

}  // namespace pmlsm::crash
