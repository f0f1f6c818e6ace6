// History: what a writer of the crash tests does, operation by operation. It follows from the seed alone, so
// that a checker, in another process, knows what the DB must hold after any number of operations.
//
// Thread safety: const methods from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "util/random.h"

namespace pmlsm::crash {

enum class Style {
  kSmallPuts,     // 10-120 B
  kMediumPuts,    // 100-1000 B, some deletes
  kHugePuts,      // 16-40 KiB: larger than a table
  kSmallBatches,  // 2-12 changes, some deletes
  kBigBatches,    // 40 KiB and more: larger than a memtable
};

enum class Record { kPut, kDelete, kSingleDelete };

struct Change {
  Record record;
  std::string key;
  std::string value;
};

struct Operation {
  std::vector<Change> changes;
  bool sync = true;
};

// A part of a history: `operations` of one style.
struct Chapter {
  Style style;
  uint64_t operations;
};

using Content = std::map<std::string, std::string>;

class History {
 public:
  // Some operations are not synced if `unsynced`.
  History(uint64_t seed, int writer, std::vector<Chapter> chapters, bool unsynced);

  // Beside the style's own changes, keys that are put once and removed by a SingleDelete some operations later.
  Operation At(uint64_t number) const;
  uint64_t operations() const { return operations_; }
  void Apply(uint64_t number, Content* content) const;

  // Begins all keys of this writer.
  std::string KeyPrefix() const;
  // The operation that wrote a value.
  static uint64_t OperationOf(const std::string& value);

 private:
  void AddOnce(uint64_t number, Random* random, Operation* operation) const;

  const uint64_t seed_;
  const int writer_;
  const std::vector<Chapter> chapters_;
  const bool unsynced_;
  uint64_t operations_ = 0;
};

}  // namespace pmlsm::crash
