#include "tools/bench/lmdb_iterator.h"

#include <cerrno>
#include <utility>

namespace pmlsm::bench {
namespace {

class LmdbIterator final : public Iterator {
 public:
  LmdbIterator(MDB_env* env, MDB_dbi dbi, LmdbCursor* kept)
      : kept_(kept), cursor_(std::exchange(*kept, LmdbCursor())) {
    if (cursor_.cursor == nullptr) {
      code_ = mdb_txn_begin(env, nullptr, MDB_RDONLY, &cursor_.txn);
      if (code_ == 0) code_ = mdb_cursor_open(cursor_.txn, dbi, &cursor_.cursor);
    } else {
      code_ = mdb_txn_renew(cursor_.txn);
      if (code_ == 0) code_ = mdb_cursor_renew(cursor_.txn, cursor_.cursor);
    }
    is_open_ = code_ == 0;
  }
  ~LmdbIterator() override {
    if (is_open_ && kept_->cursor == nullptr) {
      mdb_txn_reset(cursor_.txn);
      *kept_ = cursor_;
    } else {
      cursor_.Close();
    }
  }

  bool Valid() const override { return valid_; }
  void SeekToFirst() override { Move(MDB_FIRST); }
  void SeekToLast() override { Move(MDB_LAST); }
  void Seek(const Slice& target) override {
    key_ = ToVal(target);
    Move(MDB_SET_RANGE);
  }
  void SeekForPrev(const Slice& target) override {
    Seek(target);
    if (!valid_) {
      SeekToLast();
    } else if (key() != target) {
      Prev();
    }
  }
  void Next() override { Move(MDB_NEXT); }
  void Prev() override { Move(MDB_PREV); }
  Slice key() const override { return ToSlice(key_); }
  Slice value() const override { return ToSlice(value_); }
  Status status() const override { return code_ == MDB_NOTFOUND ? Status::OK() : FromLmdb(code_); }

 private:
  void Move(MDB_cursor_op operation) {
    if (!is_open_) return;
    code_ = mdb_cursor_get(cursor_.cursor, &key_, &value_, operation);
    valid_ = code_ == 0;
  }

  LmdbCursor* const kept_;
  LmdbCursor cursor_;
  bool is_open_ = false;
  MDB_val key_{}, value_{};
  int code_ = 0;
  bool valid_ = false;
};

}  // namespace

Status FromLmdb(int code) {
  if (code == 0) return Status::OK();
  if (code == MDB_NOTFOUND) return Status::NotFound();
  if (code == MDB_MAP_FULL || code == ENOSPC) return Status::NoSpace("LMDB", mdb_strerror(code));
  if (code == MDB_CORRUPTED || code == MDB_PAGE_NOTFOUND)
    return Status::Corruption("LMDB", mdb_strerror(code));
  return Status::IOError("LMDB", mdb_strerror(code));
}

std::unique_ptr<Iterator> NewLmdbIterator(MDB_env* env, MDB_dbi dbi, LmdbCursor* kept) {
  return std::make_unique<LmdbIterator>(env, dbi, kept);
}

}  // namespace pmlsm::bench
