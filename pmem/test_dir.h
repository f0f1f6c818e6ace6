// For tests: a fresh directory that goes with the object, on tmpfs or on the disk that holds TEST_TMPDIR.
#pragma once

#include <cstdlib>
#include <string>

#include "util/check.h"

namespace pmlsm {

class TestDir {
 public:
  enum Where { kTmpfs, kDisk };

  explicit TestDir(Where where = kTmpfs) {
    const char* disk = getenv("TEST_TMPDIR");
    std::string name = where == kTmpfs ? "/dev/shm" : disk != nullptr ? disk : "/tmp";
    name += "/pmlsm-test-XXXXXX";
    CHECK(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TestDir() { Run("rm -rf " + path_); }
  TestDir(const TestDir&) = delete;
  TestDir& operator=(const TestDir&) = delete;

  const std::string& path() const { return path_; }
  std::string Sub(const std::string& name) const { return path_ + "/" + name; }

  // A shell command that must succeed.
  static void Run(const std::string& command) { CHECK(system(command.c_str()) == 0); }

 private:
  std::string path_;
};

}  // namespace pmlsm
