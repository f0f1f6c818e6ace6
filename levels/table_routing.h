// TableRouting: what DRAM knows of a table so that reads go straight to an entry, past the filter and the index.
//
// Made from what the nodes hold, all of it verified, it is right about the table as written, whatever becomes of the
// medium afterwards: that a key is not there needs no look at the table. What it leads to is verified as ever.
//
// The idea is that of stores whose index lies in DRAM over a log in PMem (FlatStore, Viper), with the difference that
// this is a cache: nothing has to be rebuilt at open, and a table can do without.
//
// Thread safety: const and safe from any thread.
#pragma once

#include <cstdint>

#include "levels/key_map.h"
#include "levels/table_format.h"

namespace pmlsm {

class TableRouting {
 public:
  // Whether there can be one: places of entries must fit.
  static bool Fits(const TableHeader& header) {
    return header.nodes_place + header.nodes_bytes <= KeyMap::kPlaceEnd;
  }
  static uint64_t BytesFor(const TableHeader& header) {
    return sizeof(TableRouting) + KeyMap::BytesFor(header.user_keys);
  }

  explicit TableRouting(const TableHeader& header) : keys_(header.user_keys) {}

  // A key's place is where its newest version lies in the table.
  KeyMap& keys() { return keys_; }
  const KeyMap& keys() const { return keys_; }

 private:
  KeyMap keys_;
};

}  // namespace pmlsm
