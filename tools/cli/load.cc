#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>

#include "tools/cli/commands.h"
#include "tools/cli/entry_reader.h"

namespace pmlsm::cli {
namespace {

class Loader {
 public:
  Loader(DB* db, const LoadArguments& arguments) : db_(db), arguments_(arguments) {}

  Status LoadAll(EntryReader* reader) {
    std::string key, value;
    Status s;
    while (s.ok() && reader->Next(&key, &value)) s = Add(key, value);
    if (s.ok()) s = WriteBatchNow();
    if (s.ok()) s = reader->status();
    return s;
  }
  void PrintCounts() const {
    if (shows_progress_line_) fprintf(stderr, "\n");
    printf("loaded %" PRIu64 " entries, %" PRIu64 " bytes of keys and values\n", entries_, bytes_);
  }

 private:
  // A batch of large values is written before it comes near kMaxBatchBytes.
  static constexpr size_t kBatchBytes = size_t{64} << 20;

  Status Add(const std::string& key, const std::string& value) {
    Status s = batch_.Put(key, value);
    if (!s.ok()) return s;
    batch_bytes_ += key.size() + value.size();
    if (batch_.Count() < arguments_.batch_size && batch_.GetDataSize() < kBatchBytes) return s;
    return WriteBatchNow();
  }

  Status WriteBatchNow() {
    if (batch_.Count() == 0) return Status::OK();
    Status s = db_->Write(WriteOptions(), &batch_);
    if (!s.ok()) return s;
    entries_ += batch_.Count();
    bytes_ += batch_bytes_;
    batch_.Clear();
    batch_bytes_ = 0;
    if (arguments_.progress_every > 0 && entries_ >= next_progress_) {
      PrintProgress();
      next_progress_ = entries_ + arguments_.progress_every;
    }
    return s;
  }

  // On a terminal one line that changes.
  void PrintProgress() {
    shows_progress_line_ = isatty(STDERR_FILENO) != 0;
    fprintf(stderr, "%sloaded %" PRIu64 " entries%s", shows_progress_line_ ? "\r" : "", entries_,
            shows_progress_line_ ? "" : "\n");
    fflush(stderr);
  }

  DB* const db_;
  const LoadArguments& arguments_;
  WriteBatch batch_;
  size_t batch_bytes_ = 0;
  // Written, so durable.
  uint64_t entries_ = 0;
  uint64_t bytes_ = 0;
  uint64_t next_progress_ = 1;
  bool shows_progress_line_ = false;
};

}  // namespace

int Load(DB* db, const LoadArguments& arguments) {
  std::ifstream file;
  std::istream* input = &std::cin;
  if (arguments.file != "-") {
    file.open(arguments.file);
    if (!file) return Failed(arguments.file, Status::IOError("cannot open", strerror(errno)));
    input = &file;
  }
  const auto reader = arguments.stanzas ? NewStanzaReader(input) : NewLineReader(input);
  Loader loader(db, arguments);
  const Status s = loader.LoadAll(reader.get());
  loader.PrintCounts();
  if (!s.ok()) return Failed("load", s);
  return kExitOk;
}

}  // namespace pmlsm::cli
