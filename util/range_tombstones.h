// RangeTombstones: deletions of ranges of keys, as fragments: ranges that do not overlap, each with the sequence
// numbers of all deletions that cover it. (RocksDB and Pebble cut theirs up in the same way.) So a lookup is one
// binary search, however many ranges there are.
//
// A range is [begin, end) in the comparator's order; one that is empty or reversed deletes nothing.
//
// Thread safety: const methods are safe from any thread. A Cursor belongs to one.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "pmlsm/comparator.h"
#include "util/internal_key.h"

namespace pmlsm {

struct RangeTombstone {
  Slice begin;
  Slice end;
  SequenceNumber sequence = 0;
};

class RangeTombstones {
 public:
  struct Fragment {
    std::string begin;
    std::string end;
    std::vector<SequenceNumber> sequences;  // newest first, not empty
  };

  // In any order; they may overlap. Copies the keys.
  RangeTombstones(const Comparator* comparator, const std::vector<RangeTombstone>& tombstones);

  bool empty() const { return fragments_.empty(); }
  const std::vector<Fragment>& fragments() const { return fragments_; }  // ascending

  // The newest deletion <= snapshot that covers the key; 0 if there is none.
  SequenceNumber NewestCovering(const Slice& key, SequenceNumber snapshot) const;

  // What a merge of the runs that these come from has to keep. `snapshots`: ascending. `held_below(begin, end)`:
  // whether a run that is older than all inputs may hold a key of the range. A deletion goes if a newer one of
  // the same fragment is seen by the same readers, or if the oldest snapshot sees it and nothing older is there.
  RangeTombstones Surviving(const std::vector<SequenceNumber>& snapshots,
                            const std::function<bool(const Slice&, const Slice&)>& held_below) const;

  // The part in [begin, end); null: open end.
  RangeTombstones Clip(const Slice* begin, const Slice* end) const;

  // The same lookup for keys that come in ascending order.
  class Cursor {
   public:
    explicit Cursor(const RangeTombstones* tombstones) : tombstones_(tombstones) {}
    SequenceNumber NewestCovering(const Slice& key, SequenceNumber snapshot);

   private:
    const RangeTombstones* tombstones_;
    size_t fragment_ = 0;  // the first that ends above the key
  };

 private:
  explicit RangeTombstones(const Comparator* comparator) : comparator_(comparator) {}
  void Append(Fragment fragment);

  const Comparator* comparator_;
  std::vector<Fragment> fragments_;
};

}  // namespace pmlsm
