// What the tests of this folder share: a sink in memory, tables on the heap, awkward keys, and the oracle.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "levels/table.h"
#include "levels/table_builder.h"
#include "levels/table_sink.h"
#include "util/check.h"
#include "util/random.h"

namespace pmlsm {

// Memory aligned as an extent is.
class AlignedMemory {
 public:
  explicit AlignedMemory(size_t bytes)
      : bytes_(bytes), data_(static_cast<char*>(aligned_alloc(4096, Rounded(bytes)))) {
    memset(data_, 0xa5, Rounded(bytes));
  }
  ~AlignedMemory() { free(data_); }
  AlignedMemory(const AlignedMemory&) = delete;
  AlignedMemory& operator=(const AlignedMemory&) = delete;
  char* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  static size_t Rounded(size_t bytes) { return (bytes + 4095) / 4096 * 4096; }
  const size_t bytes_;
  char* const data_;
};

// Writes to memory; CHECKs the order of places that TableSink promises.
class MemorySink final : public TableSink {
 public:
  MemorySink(char* to, uint64_t capacity) : to_(to), capacity_(capacity) {}
  void Write(uint64_t place, const char* data, size_t bytes) override {
    CHECK(!header_written_);
    CHECK(place <= capacity_ && bytes <= capacity_ - place);
    if (place == 0) {
      header_written_ = true;
    } else {
      CHECK(place >= next_);
      next_ = place + bytes;
    }
    memcpy(to_ + place, data, bytes);
  }
  Status Finish() override {
    CHECK(header_written_);
    return Status::OK();
  }

 private:
  char* const to_;
  const uint64_t capacity_;
  uint64_t next_ = 0;
  bool header_written_ = false;
};

// Orders by length first, then by the bytes turned round: unlike either built-in order.
class LengthFirstComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.LengthFirst"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return b.compare(a);
  }
};
inline const Comparator* LengthFirst() {
  static const LengthFirstComparator comparator;
  return &comparator;
}

struct OwnedEntry {
  std::string key;
  Tag tag;
  std::string value;
  Entry ref() const { return Entry{key, tag, value}; }
};

// Entries in internal order.
class Model {
 public:
  explicit Model(const Comparator* comparator) : entries_(Less{comparator}) {}

  void Put(const std::string& key, SequenceNumber sequence, ValueType type, const std::string& value) {
    entries_[{key, MakeTag(sequence, type)}] = value;
  }
  std::vector<OwnedEntry> All() const {
    std::vector<OwnedEntry> all;
    for (const auto& [key, value] : entries_) all.push_back({key.first, key.second, value});
    return all;
  }

 private:
  struct Less {
    const Comparator* comparator;
    bool operator()(const std::pair<std::string, Tag>& a, const std::pair<std::string, Tag>& b) const {
      return CompareInternal(*comparator, a.first, a.second, b.first, b.second) < 0;
    }
  };
  std::map<std::pair<std::string, Tag>, std::string, Less> entries_;
};

// By what a test with and without routing sets TableOptions::routing_budget to.
inline DramBudget* RoutingBudget(bool routed) {
  static DramBudget budget(uint64_t{1} << 32);
  return routed ? &budget : nullptr;
}

inline bool Same(const Entry& a, const Entry& b) {
  return a.key == b.key && a.tag == b.tag && a.value == b.value;
}

// What a table or run of these entries must answer.
class Oracle {
 public:
  Oracle(const Comparator* comparator, const std::vector<OwnedEntry>& entries)
      : comparator_(comparator), entries_(entries) {}
  // Index of the first entry >= (key, tag).
  size_t LowerBound(const Slice& key, Tag tag) const {
    size_t low = 0;
    size_t high = entries_.size();
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (CompareInternal(*comparator_, entries_[middle].key, entries_[middle].tag, key, tag) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  const OwnedEntry* Get(const Slice& key, SequenceNumber snapshot) const {
    const size_t i = LowerBound(key, SeekTag(snapshot));
    return i < entries_.size() && Slice(entries_[i].key) == key ? &entries_[i] : nullptr;
  }

 private:
  const Comparator* const comparator_;
  const std::vector<OwnedEntry>& entries_;
};

inline void ExpectAt(const InternalIterator& iterator, const std::vector<OwnedEntry>& entries, size_t i) {
  ASSERT_TRUE(iterator.status().ok()) << iterator.status().ToString();
  ASSERT_EQ(iterator.valid(), i < entries.size());
  if (i < entries.size()) {
    ASSERT_TRUE(Same(iterator.entry(), entries[i].ref())) << "entry " << i;
  }
}

inline void ExpectScans(InternalIterator* iterator, const std::vector<OwnedEntry>& entries) {
  iterator->SeekToFirst();
  for (size_t i = 0; i < entries.size(); ++i, iterator->Next()) {
    ASSERT_NO_FATAL_FAILURE(ExpectAt(*iterator, entries, i));
  }
  ASSERT_NO_FATAL_FAILURE(ExpectAt(*iterator, entries, entries.size()));
  iterator->SeekToLast();
  for (size_t i = entries.size(); i-- > 0; iterator->Prev()) {
    ASSERT_NO_FATAL_FAILURE(ExpectAt(*iterator, entries, i));
  }
  ASSERT_NO_FATAL_FAILURE(ExpectAt(*iterator, entries, entries.size()));
}

inline void ExpectSeek(InternalIterator* iterator, const Oracle& oracle,
                       const std::vector<OwnedEntry>& entries, const Slice& key, Tag tag) {
  const size_t none = entries.size();
  const size_t i = oracle.LowerBound(key, tag);
  if (i % 2 == 0) iterator->PrepareSeek(key);  // or not: the same
  iterator->Seek(key, tag);
  ASSERT_NO_FATAL_FAILURE(ExpectAt(*iterator, entries, i));
  if (i < none) {
    iterator->Next();
    ASSERT_NO_FATAL_FAILURE(ExpectAt(*iterator, entries, i + 1));
    iterator->Seek(key, tag);
    iterator->Prev();
    ASSERT_NO_FATAL_FAILURE(ExpectAt(*iterator, entries, i == 0 ? none : i - 1));
  }
  const bool exact = i < none && Slice(entries[i].key) == key && entries[i].tag == tag;
  iterator->SeekForPrev(key, tag);
  ASSERT_NO_FATAL_FAILURE(ExpectAt(*iterator, entries, exact ? i : i == 0 ? none : i - 1));
}

// A table on the heap, with its entries beside it.
struct HeapTable {
  std::unique_ptr<AlignedMemory> memory;
  std::unique_ptr<Table> table;
  uint64_t bytes = 0;
};

// Takes entries from *next on while they fit.
inline HeapTable BuildTable(const TableOptions& options, uint64_t number, uint64_t capacity,
                            const std::vector<OwnedEntry>& entries, size_t* next) {
  HeapTable result;
  result.memory = std::make_unique<AlignedMemory>(capacity);
  MemorySink sink(result.memory->data(), capacity);
  TableBuilder builder(options, number, capacity, &sink);
  while (*next < entries.size() && builder.Fits(entries[*next].ref())) builder.Add(entries[(*next)++].ref());
  const uint64_t estimated = builder.EstimatedBytes();
  result.bytes = builder.Finish();
  Status s = sink.Finish();
  CHECK(s.ok());
  CHECK(result.bytes <= capacity && result.bytes <= estimated);
  s = Table::Open(options, result.memory->data(), Span{uint64_t{number} << 32, capacity}, &result.table);
  if (!s.ok()) fprintf(stderr, "%s\n", s.ToString().c_str());
  CHECK(s.ok());
  if (options.routing_budget != nullptr) {
    result.table->MakeRouting();
    CHECK((result.table->routing() != nullptr) == TableRouting::Fits(result.table->header()));
  }
  return result;
}

// All of them in one table.
inline HeapTable BuildTable(const TableOptions& options, const std::vector<OwnedEntry>& entries) {
  uint64_t capacity = 64 << 10;
  for (const OwnedEntry& entry : entries) capacity += TableBuilder::BytesFor(options, entry.ref());
  size_t next = 0;
  HeapTable table = BuildTable(options, 7, capacity, entries, &next);
  CHECK(next == entries.size());
  return table;
}

inline std::string BigEndian(uint64_t number) {
  std::string bytes(8, 0);
  for (int i = 7; i >= 0; --i, number >>= 8) bytes[i] = static_cast<char>(number);
  return bytes;
}

// Empty, zeros, ones, prefixes of each other, long shared prefixes, up to 64 KiB.
inline std::string AwkwardKey(Random* random) {
  const std::string shared(300, 'p');
  switch (random->Uniform(12)) {
    case 0:
      return std::string(random->Uniform(4), '\0');
    case 1:
      return std::string(random->Uniform(20), '\xff');
    case 2:
      return std::string("abcdefghijklmnop").substr(0, random->Uniform(17));
    case 3:
      return shared + std::string(random->Uniform(10), '\0');
    case 4:
      return shared + BigEndian(random->Uniform(50));
    case 5:
      return shared.substr(0, 290 + random->Uniform(10));
    case 6:
      return random->OneIn(20) ? std::string(64 << 10, static_cast<char>('a' + random->Uniform(3)))
                               : std::string("k");
    case 7:
      return std::string(8, '\0') + BigEndian(random->Uniform(100));
    case 8:
      return "user" + std::to_string(1000000 + random->Uniform(2000));
    default:
      return BigEndian(random->Next()).substr(0, 1 + random->Uniform(8));
  }
}

inline std::string RandomBytes(Random* random, size_t bytes) {
  std::string value(bytes, 0);
  for (char& byte : value) byte = static_cast<char>(random->Next() >> 32);
  return value;
}

}  // namespace pmlsm
