#include "pmlsm/status.h"

#include <cstring>

namespace pmlsm {
namespace {

const char* CodeName(Status::Code code) {
  switch (code) {
    case Status::kOk:
      return "OK";
    case Status::kNotFound:
      return "NotFound";
    case Status::kCorruption:
      return "Corruption";
    case Status::kNotSupported:
      return "Not implemented";
    case Status::kInvalidArgument:
      return "Invalid argument";
    case Status::kIOError:
      return "IO error";
    case Status::kMergeInProgress:
      return "Merge in progress";
    case Status::kIncomplete:
      return "Result incomplete";
    case Status::kShutdownInProgress:
      return "Shutdown in progress";
    case Status::kTimedOut:
      return "Operation timed out";
    case Status::kAborted:
      return "Operation aborted";
    case Status::kBusy:
      return "Resource busy";
    case Status::kExpired:
      return "Operation expired";
    case Status::kTryAgain:
      return "Operation failed. Try again.";
    case Status::kCompactionTooLarge:
      return "Compaction too large";
    case Status::kColumnFamilyDropped:
      return "Column family dropped";
  }
  return "Unknown code";
}

const char* SubCodeName(Status::SubCode subcode) {
  switch (subcode) {
    case Status::kNone:
      return "";
    case Status::kMutexTimeout:
      return "Timeout Acquiring Mutex";
    case Status::kLockTimeout:
      return "Timeout waiting to lock key";
    case Status::kLockLimit:
      return "Failed to acquire lock due to max_num_locks limit";
    case Status::kNoSpace:
      return "No space left on device";
    case Status::kDeadlock:
      return "Deadlock";
    case Status::kStaleFile:
      return "Stale file handle";
    case Status::kMemoryLimit:
      return "Memory limit reached";
    case Status::kSpaceLimit:
      return "Space limit reached";
    case Status::kPathNotFound:
      return "No such file or directory";
    case Status::kManualCompactionPaused:
      return "Manual compaction paused";
  }
  return "Unknown subcode";
}

std::unique_ptr<const char[]> CopyText(const char* text, size_t bytes) {
  auto copy = std::make_unique<char[]>(bytes + 1);
  memcpy(copy.get(), text, bytes);
  copy[bytes] = '\0';
  return copy;
}

}  // namespace

Status::Status(Code code, SubCode subcode, const Slice& what, const Slice& where)
    : code_(code), subcode_(subcode) {
  if (what.empty() && where.empty()) return;
  std::string text = what.ToString();
  if (!where.empty()) text.append(": ").append(where.data(), where.size());
  message_ = CopyText(text.data(), text.size());
}

Status& Status::operator=(const Status& other) {
  if (this == &other) return *this;
  code_ = other.code_;
  subcode_ = other.subcode_;
  message_ =
      other.message_ == nullptr ? nullptr : CopyText(other.message_.get(), strlen(other.message_.get()));
  return *this;
}

std::string Status::ToString() const {
  std::string text = CodeName(code_);
  if (code_ == kOk) return text;
  text += ": ";
  if (subcode_ != kNone) text += SubCodeName(subcode_);
  if (message_ != nullptr) text.append(subcode_ != kNone ? ": " : "").append(message_.get());
  return text;
}

}  // namespace pmlsm
