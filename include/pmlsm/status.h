// Status: the outcome of a call. It cannot be ignored by accident.
//
//   pmlsm::Status s = db->Put({}, key, value);
//   if (!s.ok()) std::cerr << s.ToString() << "\n";
//
// Codes and subcodes are RocksDB's. Corruption names what is damaged and where; NoSpace means that nothing
// was logged; InvalidArgument is found before anything is changed; NotFound is a result, not an error.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "pmlsm/export.h"
#include "pmlsm/slice.h"

namespace pmlsm {

class [[nodiscard]] PMLSM_EXPORT Status {
 public:
  enum Code : uint8_t {
    kOk = 0,
    kNotFound = 1,
    kCorruption = 2,
    kNotSupported = 3,
    kInvalidArgument = 4,
    kIOError = 5,
    kMergeInProgress = 6,
    kIncomplete = 7,
    kShutdownInProgress = 8,
    kTimedOut = 9,
    kAborted = 10,
    kBusy = 11,
    kExpired = 12,
    kTryAgain = 13,
    kCompactionTooLarge = 14,
    kColumnFamilyDropped = 15,
  };
  enum SubCode : uint8_t {
    kNone = 0,
    kMutexTimeout = 1,
    kLockTimeout = 2,
    kLockLimit = 3,
    kNoSpace = 4,
    kDeadlock = 5,
    kStaleFile = 6,
    kMemoryLimit = 7,
    kSpaceLimit = 8,
    kPathNotFound = 9,
    kManualCompactionPaused = 11,
  };

  Status() = default;
  Status(const Status& other) { *this = other; }
  Status(Status&&) = default;
  Status& operator=(const Status& other);
  Status& operator=(Status&&) = default;

  static Status OK() { return Status(); }
  static Status NotFound(const Slice& what = {}, const Slice& where = {}) {
    return {kNotFound, kNone, what, where};
  }
  static Status Corruption(const Slice& what, const Slice& where = {}) {
    return {kCorruption, kNone, what, where};
  }
  static Status NotSupported(const Slice& what, const Slice& where = {}) {
    return {kNotSupported, kNone, what, where};
  }
  static Status InvalidArgument(const Slice& what, const Slice& where = {}) {
    return {kInvalidArgument, kNone, what, where};
  }
  static Status IOError(const Slice& what, const Slice& where = {}) { return {kIOError, kNone, what, where}; }
  static Status PathNotFound(const Slice& what, const Slice& where = {}) {
    return {kIOError, kPathNotFound, what, where};
  }
  static Status NoSpace(const Slice& what, const Slice& where = {}) {
    return {kIOError, kNoSpace, what, where};
  }
  static Status Incomplete(const Slice& what, const Slice& where = {}) {
    return {kIncomplete, kNone, what, where};
  }
  static Status ShutdownInProgress(const Slice& what = {}, const Slice& where = {}) {
    return {kShutdownInProgress, kNone, what, where};
  }
  static Status TimedOut(const Slice& what = {}, const Slice& where = {}) {
    return {kTimedOut, kNone, what, where};
  }
  static Status Aborted(const Slice& what, const Slice& where = {}) { return {kAborted, kNone, what, where}; }
  static Status Busy(const Slice& what = {}, const Slice& where = {}) { return {kBusy, kNone, what, where}; }
  static Status TryAgain(const Slice& what = {}, const Slice& where = {}) {
    return {kTryAgain, kNone, what, where};
  }

  bool ok() const { return code_ == kOk; }
  bool IsNotFound() const { return code_ == kNotFound; }
  bool IsCorruption() const { return code_ == kCorruption; }
  bool IsNotSupported() const { return code_ == kNotSupported; }
  bool IsInvalidArgument() const { return code_ == kInvalidArgument; }
  bool IsIOError() const { return code_ == kIOError; }
  bool IsNoSpace() const { return code_ == kIOError && subcode_ == kNoSpace; }
  bool IsPathNotFound() const {
    return (code_ == kIOError || code_ == kNotFound) && subcode_ == kPathNotFound;
  }
  bool IsIncomplete() const { return code_ == kIncomplete; }
  bool IsShutdownInProgress() const { return code_ == kShutdownInProgress; }
  bool IsTimedOut() const { return code_ == kTimedOut; }
  bool IsAborted() const { return code_ == kAborted; }
  bool IsBusy() const { return code_ == kBusy; }
  bool IsTryAgain() const { return code_ == kTryAgain; }

  Code code() const { return code_; }
  SubCode subcode() const { return subcode_; }
  // The message without the code's name; "" if there is none.
  const char* getState() const { return message_ == nullptr ? "" : message_.get(); }
  // "OK", or "IO error: No space left on device: <what>: <where>".
  std::string ToString() const;

  friend bool operator==(const Status& a, const Status& b) { return a.code_ == b.code_; }
  friend bool operator!=(const Status& a, const Status& b) { return a.code_ != b.code_; }

  // For a caller that has a reason not to look; says so in the code.
  void PermitUncheckedError() const {}

 private:
  Status(Code code, SubCode subcode, const Slice& what, const Slice& where);

  Code code_ = kOk;
  SubCode subcode_ = kNone;
  std::unique_ptr<const char[]> message_;  // zero-terminated
};

}  // namespace pmlsm
