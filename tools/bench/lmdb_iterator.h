// An iterator of LMDB: a cursor in a read transaction of its own; and what it shares with the adapter.
#pragma once

#include <lmdb.h>

#include <memory>

#include "pmlsm/iterator.h"
#include "pmlsm/slice.h"
#include "pmlsm/status.h"

namespace pmlsm::bench {

inline MDB_val ToVal(const Slice& s) { return {s.size(), const_cast<char*>(s.data())}; }
inline Slice ToSlice(const MDB_val& val) { return Slice(static_cast<const char*>(val.mv_data), val.mv_size); }
Status FromLmdb(int code);

// A cursor and its transaction, kept from one iterator to the next: renewing both costs less than making them.
struct LmdbCursor {
  MDB_txn* txn = nullptr;
  MDB_cursor* cursor = nullptr;

  void Close() {
    if (cursor != nullptr) mdb_cursor_close(cursor);
    if (txn != nullptr) mdb_txn_abort(txn);
    *this = LmdbCursor();
  }
};

// Takes the cursor out of *kept, if there is one, and leaves its own there when it ends.
std::unique_ptr<Iterator> NewLmdbIterator(MDB_env* env, MDB_dbi dbi, LmdbCursor* kept);

}  // namespace pmlsm::bench
