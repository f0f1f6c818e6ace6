// The operations of kill_test: number i of a thread and a seed is the same in the writer and in the test that
// kills it. Each thread has keys of its own.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "test/db/db_test_support.h"

namespace pmlsm {

// What a thread's keys begin with, and what it acknowledges by.
inline char KillThreadName(size_t thread) { return static_cast<char>('A' + thread); }

struct KillOperation {
  enum Kind { kPut, kDelete, kBatch, kFlush, kCompact };
  enum class Record { kPut, kDelete, kSingleDelete };
  struct Change {
    Record record;
    std::string key;
    std::string value;
  };
  Kind kind;
  bool sync;
  std::vector<Change> changes;

  KillOperation(uint64_t seed, size_t thread, uint64_t number) {
    Random random((seed * 1000003 + number) ^ (uint64_t{thread} << 56));
    for (int i = 0; i < 4; ++i) random.Next();
    const uint64_t dice = random.Uniform(1000);
    sync = !random.OneIn(4);
    kind = dice < 700 ? kPut : dice < 850 ? kDelete : dice < 985 ? kBatch : dice < 997 ? kFlush : kCompact;
    const bool writes = kind != kFlush && kind != kCompact;
    uint64_t count = !writes ? 0 : kind != kBatch ? 1 : 1 + random.Uniform(20);
    // Larger than a memtable and than a log segment.
    const bool huge = kind == kBatch && random.OneIn(40);
    if (huge) count = 40;
    for (; count > 0; --count) {
      Change change;
      const bool deletes = kind == kDelete || (kind == kBatch && random.OneIn(4));
      change.record = deletes ? Record::kDelete : Record::kPut;
      change.key = KillThreadName(thread) + ("key" + std::to_string(random.Uniform(600)));
      if (!deletes) {
        change.value = std::to_string(number) + std::string(random.Uniform(huge ? 4000 : 150), 'v');
      }
      changes.push_back(std::move(change));
    }
    AddOnce(thread, number);
  }

  void Apply(Model* model) const {
    for (const Change& change : changes) {
      if (change.record == Record::kPut) {
        (*model)[change.key] = change.value;
      } else {
        model->erase(change.key);
      }
    }
  }

  Status Apply(DB* db) const {
    WriteOptions write;
    write.sync = sync;
    switch (kind) {
      case kPut:
        return db->Put(write, changes[0].key, changes[0].value);
      case kDelete:
        return db->Delete(write, changes[0].key);
      case kFlush:
        return db->Flush();
      case kCompact:
        return db->CompactRange({}, nullptr, nullptr);
      case kBatch:
        break;
    }
    WriteBatch batch;
    for (const Change& change : changes) {
      Status s = Add(change, &batch);
      if (!s.ok()) return s;
    }
    return db->Write(write, &batch);
  }

 private:
  // Batches of one change more: keys that are put once, and removed by a SingleDelete 8 operations later.
  void AddOnce(size_t thread, uint64_t number) {
    constexpr uint64_t kPeriod = 16;
    constexpr uint64_t kKeys = 50;
    const bool puts = number % kPeriod == 3;
    if (!puts && number % kPeriod != 11) return;
    kind = kBatch;
    const std::string key = KillThreadName(thread) + ("once" + std::to_string(number / kPeriod % kKeys));
    changes.push_back({puts ? Record::kPut : Record::kSingleDelete, key, puts ? std::to_string(number) : ""});
  }

  static Status Add(const Change& change, WriteBatch* batch) {
    switch (change.record) {
      case Record::kPut:
        return batch->Put(change.key, change.value);
      case Record::kDelete:
        return batch->Delete(change.key);
      case Record::kSingleDelete:
        return batch->SingleDelete(change.key);
    }
    return Status::NotSupported("record");
  }
};

inline Options KillOptions(FailureAtomicity failure_atomicity, MemTableType memtable) {
  Options options = TinyOptions();
  options.failure_atomicity = failure_atomicity;
  options.memtable = memtable;
  options.write_buffer_size = 16 << 10;
  return options;
}

}  // namespace pmlsm
