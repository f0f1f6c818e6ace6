// TableScan: reads what is readable of a table that may be damaged, in order, and lists what is not.
//
// It needs neither the index nor the header: a data node verifies only at its own place of its own table, so
// nodes are found by trying every line, and their ordinals tell how many are missing between two of them. An
// entry that does not verify is left out by itself.
//
// Thread safety: one thread. The table's bytes outlive it and the entries that it returns.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "levels/node.h"
#include "levels/table_format.h"
#include "pmem/pool.h"
#include "pmlsm/comparator.h"

namespace pmlsm {

class TableScan {
 public:
  // Entries whose user keys lie in [from, to], bounds included because a key may have further versions. No
  // value: not known, the table's end.
  struct Lost {
    const char* what;
    uint64_t place;  // in the table: [place, end)
    uint64_t end;
    uint64_t nodes;  // 0: it is a single entry
    std::optional<std::string> from;
    std::optional<std::string> to;
  };

  // `table_number` as the run descriptor has it. `header`: null if it is damaged, else a checked copy, with the
  // smallest and the largest key.
  TableScan(const char* start, Span span, uint64_t table_number, const Comparator* comparator);
  TableScan(const char* start, Span span, const TableHeader& header, const Slice& smallest,
            const Slice& largest, const Comparator* comparator);
  TableScan(const TableScan&) = delete;
  TableScan& operator=(const TableScan&) = delete;

  // The next entry that verifies, value included; false at the end. Entries ascend.
  bool Next(Entry* entry);
  // Complete once Next has returned false.
  const std::vector<Lost>& lost() const { return lost_; }
  uint64_t entries() const { return entries_; }

 private:
  bool NextNode();
  bool TakeEntry(uint32_t i, Entry* entry);
  void Lose(const char* what, uint64_t place, uint64_t end, uint64_t nodes);
  void SettleUpTo(const std::optional<std::string>& key);

  const Region region_;
  const Comparator* const comparator_;
  const uint64_t nodes_;  // UINT64_MAX if not known
  const std::optional<std::string> largest_;
  Node node_;
  bool in_node_ = false;
  uint32_t slot_ = 0;
  uint64_t place_;  // behind the last node that was read
  uint64_t next_ordinal_ = 0;
  std::optional<std::string> last_key_;  // read last, or the table's smallest
  std::optional<Tag> last_tag_;
  std::vector<Lost> lost_;
  size_t settled_ = 0;  // of lost_: their `to` is known
  uint64_t entries_ = 0;
};

}  // namespace pmlsm
