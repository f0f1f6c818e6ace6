// MiniStore: a log in a libpmemobj pool, small enough to be right at sight, with six bugs that can be
// planted. The simulator's self-test: what it does not find here it would not find in the engine.
//
// Thread safety: one thread.
#pragma once

#include <libpmemobj.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pmlsm::crash {

enum class PlantedBug {
  kNone,
  kPublishFirst,           // the offset is made durable before the record
  kNoFenceBetween,         // one fence for record and offset
  kLastLineUnflushed,      // the record's last line is left in the caches
  kOffsetUnflushed,        // the offset is left in the caches
  kRangeNotInTransaction,  // a transaction changes the root without having added it
  kChangedAfterFlush,      // the record's checksum is stored after its line was flushed
};

class MiniStore {
 public:
  explicit MiniStore(PlantedBug bug) : bug_(bug) {}
  ~MiniStore() { Close(); }
  MiniStore(const MiniStore&) = delete;
  MiniStore& operator=(const MiniStore&) = delete;

  bool Create(const std::string& path, size_t bytes);
  bool Open(const std::string& path);
  void Close();

  // Appends a record; durable when it returns true.
  bool Put(uint64_t number, const std::string& value);
  bool NewSegment();

  // The numbers of all records, newest segment first. Returns what is wrong; "" = nothing.
  std::string Scan(std::vector<uint64_t>* numbers) const;

 private:
  struct Segment;
  struct Root;

  bool LoadRoot();
  void Append(char* to, const std::string& record);
  void PublishOffset(uint64_t offset);

  const PlantedBug bug_;
  PMEMobjpool* pool_ = nullptr;
  Root* root_ = nullptr;
  Segment* segment_ = nullptr;
};

}  // namespace pmlsm::crash
