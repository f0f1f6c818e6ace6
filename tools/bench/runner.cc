#include "tools/bench/runner.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "tools/bench/process_use.h"
#include "tools/bench/progress.h"
#include "tools/bench/report.h"
#include "tools/bench/workloads.h"
#include "util/mutex.h"

namespace pmlsm::bench {
namespace {

// Lets threads that get ready one by one start together.
class StartGate {
 public:
  void WaitUntilReady(int threads) {
    MutexLock lock(&mutex_);
    while (ready_ < threads) changed_.Wait(&mutex_);
  }
  void Open() {
    MutexLock lock(&mutex_);
    open_ = true;
    changed_.SignalAll();
  }
  // Called by each thread once it is ready.
  void Enter() {
    MutexLock lock(&mutex_);
    ++ready_;
    changed_.SignalAll();
    while (!open_) changed_.Wait(&mutex_);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int ready_ GUARDED_BY(mutex_) = 0;
  bool open_ GUARDED_BY(mutex_) = false;
};

class Runner {
 public:
  explicit Runner(const Config& config)
      : config_(config),
        engine_(NewEngine(config.engine, config.engine_options)),
        shared_(config, engine_.get()) {}

  Status RunAll();

 private:
  Status Open();
  Status OpenFresh();
  Status RunOne(const Workload& workload);
  Status PrintProperty(const std::string& name);
  void ReportOpen(const Workload& workload);
  Outcome RunThreads(const Workload& workload);
  void Collect(const std::vector<std::unique_ptr<Thread>>& threads, Outcome* outcome) const;
  void NoteWhatWasWritten(Workload::Fill fill, const Outcome& outcome);
  uint64_t OperationsWanted(const Workload& workload) const;
  bool ReadPmemCounts(PmemCountsByClass* counts);
  // -1: the engine does not say.
  int64_t MemtableBytes();

  const Config& config_;
  const std::unique_ptr<Engine> engine_;
  Shared shared_;
  bool is_empty_ = false;    // nothing was run on the DB since it was created
  uint64_t open_ticks_ = 0;  // of the last time that the DB was opened
  uint64_t floor_nanos_ = 0;
  std::vector<Outcome> outcomes_;
};

Status Runner::RunAll() {
  Status s = engine_->CheckOptions();
  if (s.ok()) s = config_.use_existing_db ? Open() : OpenFresh();
  if (!s.ok()) return s;
  PrintHeader(config_, engine_.get());
  std::string medium;
  if (!engine_->GetProperty("medium", &medium)) medium = "unknown";
  for (const std::string& name : config_.benchmarks) {
    s = RunOne(*FindWorkload(name));
    if (!s.ok()) return s;
    // After each, so that a run that is cut short leaves what it measured.
    if (!config_.json_file.empty()) s = WriteJson(config_, medium, outcomes_);
    if (!s.ok()) return s;
  }
  return engine_->Close();
}

Status Runner::Open() {
  const uint64_t start = TickClock::Now();
  Status s = engine_->Open();
  open_ticks_ = TickClock::Now() - start;
  return s;
}

Status Runner::OpenFresh() {
  Status s = engine_->Close();
  if (s.ok()) s = engine_->Destroy();
  if (s.ok()) s = Open();
  is_empty_ = s.ok();
  shared_.values_known = is_empty_ && engine_->ReturnsWhatWasWritten();
  return s;
}

Status Runner::RunOne(const Workload& workload) {
  if (workload.kind == Workload::Kind::kProperty) return PrintProperty(workload.name);
  if (workload.kind == Workload::Kind::kOpen) {
    ReportOpen(workload);
    return Status::OK();
  }
  if (workload.fill != Workload::Fill::kNone) {
    if (config_.use_existing_db) {
      PrintSkipped(workload.name);
      return Status::OK();
    }
    if (!is_empty_) {
      Status s = OpenFresh();
      if (!s.ok()) return s;
    }
  }
  if (!workload.is_floor) is_empty_ = false;
  PmemCountsByClass before, after;
  const bool counted = ReadPmemCounts(&before);
  const double cpu_seconds_before = ProcessCpuSeconds();
  Outcome outcome = RunThreads(workload);
  outcome.cpu_seconds = ProcessCpuSeconds() - cpu_seconds_before;
  outcome.anonymous_bytes = AnonymousBytes();
  outcome.memtable_bytes = MemtableBytes();
  if (workload.is_floor) {
    floor_nanos_ = outcome.histogram.max();
  } else if (workload.IsWrite()) {
    outcome.floor_nanos = floor_nanos_;
  }
  if (counted && ReadPmemCounts(&after)) {
    outcome.has_pmem_counts = true;
    outcome.pmem = Difference(after, before);
  }
  NoteWhatWasWritten(workload.fill, outcome);
  PrintOutcome(config_, workload, outcome);
  outcomes_.push_back(std::move(outcome));
  return Status::OK();
}

Status Runner::PrintProperty(const std::string& name) {
  std::string text;
  if (!engine_->GetProperty(name, &text)) return Status::NotSupported("property", name);
  printf("\n%s\n", text.c_str());
  fflush(stdout);
  return Status::OK();
}

void Runner::ReportOpen(const Workload& workload) {
  Outcome outcome;
  outcome.benchmark = workload.name;
  outcome.threads = 1;
  outcome.operations = 1;
  outcome.seconds = outcome.thread_seconds = TickClock::Seconds(open_ticks_);
  outcome.histogram.Add(TickClock::Nanos(open_ticks_));
  PrintOutcome(config_, workload, outcome);
  outcomes_.push_back(std::move(outcome));
}

Outcome Runner::RunThreads(const Workload& workload) {
  const bool has_writer = workload.kind == Workload::Kind::kThreadsAndWriter;
  const int workers = workload.kind == Workload::Kind::kOnce ? 1 : config_.threads;
  std::vector<std::unique_ptr<Thread>> states(static_cast<size_t>(workers));
  std::unique_ptr<Thread> writer;
  StartGate gate;
  shared_.stop = false;

  // A thread makes its own state, so that the memory is near it and each engine sees the thread that uses a
  // session.
  const auto body = [&](std::unique_ptr<Thread>* state, int index, void (*run)(Thread*)) {
    *state = std::make_unique<Thread>(&shared_, workload.name, index, workers);
    gate.Enter();
    (*state)->stats.Start();
    run(state->get());
    (*state)->stats.Finish();
    (*state)->session.reset();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < workers; ++i)
    threads.emplace_back(body, &states[static_cast<size_t>(i)], i, workload.run);
  std::thread writer_thread;
  if (has_writer) writer_thread = std::thread(body, &writer, workers, WriteUntilStopped);

  gate.WaitUntilReady(workers + (has_writer ? 1 : 0));
  {
    std::optional<Progress> progress;
    if (config_.progress && workload.kind != Workload::Kind::kOnce) {
      progress.emplace(workload.name, OperationsWanted(workload), [&states] {
        uint64_t done = 0;
        for (const auto& state : states) done += state->stats.done();
        return done;
      });
    }
    gate.Open();
    for (std::thread& thread : threads) thread.join();
    shared_.stop = true;
    if (has_writer) writer_thread.join();
  }

  Outcome outcome;
  outcome.benchmark = workload.name;
  Collect(states, &outcome);
  if (has_writer) {
    outcome.writer_operations = writer->stats.done();
    outcome.writer_ops_per_second = static_cast<double>(outcome.writer_operations) / writer->stats.seconds();
  }
  return outcome;
}

void Runner::Collect(const std::vector<std::unique_ptr<Thread>>& threads, Outcome* outcome) const {
  uint64_t start = threads[0]->stats.start(), finish = threads[0]->stats.finish();
  outcome->threads = static_cast<int>(threads.size());
  for (const auto& thread : threads) {
    const ThreadStats& stats = thread->stats;
    outcome->operations += stats.done();
    outcome->thread_seconds += stats.seconds();
    outcome->bytes += stats.bytes;
    outcome->reads += stats.reads;
    outcome->writes += stats.writes;
    outcome->found += stats.found;
    outcome->histogram.Merge(stats.histogram());
    start = std::min(start, stats.start());
    finish = std::max(finish, stats.finish());
  }
  outcome->seconds = TickClock::Seconds(finish - start);
}

void Runner::NoteWhatWasWritten(Workload::Fill fill, const Outcome& outcome) {
  const uint64_t each_thread = outcome.operations / static_cast<uint64_t>(outcome.threads);
  // In random order, threads that share the work write different keys.
  const uint64_t random_keys = config_.divide_work ? outcome.operations : each_thread;
  if (fill == Workload::Fill::kNone) return;
  shared_.written = WrittenKeys::AnyOf(config_.num);
  if (each_thread == 0) return;
  if (fill == Workload::Fill::kSequential) {
    shared_.written = WrittenKeys::First(each_thread);
  } else if (!config_.random_with_replacement && (config_.duration_seconds == 0 || outcome.threads == 1)) {
    shared_.written = WrittenKeys::First(std::min(random_keys, config_.num), &shared_.fill_order);
  }
}

uint64_t Runner::OperationsWanted(const Workload& workload) const {
  if (config_.duration_seconds > 0) return 0;
  const std::string name = workload.name;
  uint64_t each_thread = workload.IsWrite() ? config_.writes : config_.reads;
  if (workload.operation == std::string("delete")) each_thread = config_.deletes;
  return each_thread * static_cast<uint64_t>(config_.threads);
}

bool Runner::ReadPmemCounts(PmemCountsByClass* counts) {
  std::string text;
  if (!engine_->GetProperty("pmem-counters", &text)) return false;
  *counts = ParsePmemCounts(text);
  return true;
}

int64_t Runner::MemtableBytes() {
  std::string text;
  if (!engine_->GetProperty("cur-size-all-mem-tables", &text)) return -1;
  return std::strtoll(text.c_str(), nullptr, 10);
}

}  // namespace

Status Run(const Config& config) { return Runner(config).RunAll(); }

}  // namespace pmlsm::bench
