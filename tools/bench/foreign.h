// What the adapters of RocksDB and LevelDB share: their classes have the same shape as pmlsm's.
//
// An iterator goes through one more virtual call for each of Valid, Next, key and value than the engine's own
// users pay: about a nanosecond each. pmlsm and LMDB have none of that: remember it when scans are compared.
#pragma once

#include <memory>

#include "pmlsm/iterator.h"
#include "pmlsm/slice.h"
#include "pmlsm/status.h"

namespace pmlsm::bench {

template <typename ForeignStatus>
Status FromForeign(const ForeignStatus& s) {
  if (s.ok()) return Status::OK();
  if (s.IsNotFound()) return Status::NotFound();
  if (s.IsCorruption()) return Status::Corruption(s.ToString());
  if (s.IsInvalidArgument()) return Status::InvalidArgument(s.ToString());
  return Status::IOError(s.ToString());
}

template <typename Inner, typename ForeignSlice>
class ForeignIterator final : public Iterator {
 public:
  explicit ForeignIterator(Inner* inner) : inner_(inner) {}

  bool Valid() const override { return inner_->Valid(); }
  void SeekToFirst() override { inner_->SeekToFirst(); }
  void SeekToLast() override { inner_->SeekToLast(); }
  void Seek(const Slice& target) override { inner_->Seek(ForeignSlice(target.data(), target.size())); }
  void SeekForPrev(const Slice& target) override {
    Seek(target);
    if (!Valid()) {
      SeekToLast();
    } else if (key() != target) {
      Prev();
    }
  }
  void Next() override { inner_->Next(); }
  void Prev() override { inner_->Prev(); }
  Slice key() const override {
    const ForeignSlice key = inner_->key();
    return Slice(key.data(), key.size());
  }
  Slice value() const override {
    const ForeignSlice value = inner_->value();
    return Slice(value.data(), value.size());
  }
  Status status() const override { return FromForeign(inner_->status()); }

 private:
  const std::unique_ptr<Inner> inner_;
};

}  // namespace pmlsm::bench
