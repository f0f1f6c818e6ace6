#include "tools/bench/floor_data.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "tools/bench/keys.h"

namespace pmlsm::bench {
namespace {

class FloorIterator final : public Iterator {
 public:
  explicit FloorIterator(const FloorData& data)
      : data_(data), number_(data.entries()), entry_(data.entry_bytes(), '\0') {}

  bool Valid() const override { return number_ < data_.entries(); }
  void SeekToFirst() override { MoveTo(0); }
  void SeekToLast() override { MoveTo(data_.entries() - 1); }
  void Seek(const Slice& target) override { MoveTo(data_.NumberOfHash(FloorHash(target))); }
  void SeekForPrev(const Slice& target) override { Seek(target); }
  void Next() override { MoveTo(number_ + 1); }
  void Prev() override { MoveTo(number_ == 0 ? data_.entries() : number_ - 1); }
  Slice key() const override { return Slice(entry_.data(), data_.key_bytes()); }
  Slice value() const override { return Slice(entry_.data() + data_.key_bytes(), data_.value_bytes()); }
  Status status() const override { return Status::OK(); }

 private:
  void MoveTo(uint64_t number) {
    number_ = number;
    if (Valid()) memcpy(entry_.data(), data_.Entry(number), entry_.size());
  }

  const FloorData& data_;
  uint64_t number_;
  std::string entry_;
};

}  // namespace

Status FloorData::Prepare(Pool* pool, ExtentAllocator* extents) {
  MutexLock lock(&mutex_);
  if (base_ != nullptr) return Status::OK();
  Span span;
  Status s = extents->Allocate(entries_ * entry_bytes(), ExtentAllocator::Use::kBackground, &span);
  if (s.ok()) s = Write(pool, span);
  if (s.ok()) base_ = pool->At(span.offset);
  return s;
}

void FloorData::Forget() {
  MutexLock lock(&mutex_);
  base_ = nullptr;
}

Status FloorData::Write(Pool* pool, Span span) const {
  constexpr uint64_t kEntriesAtOnce = 512;
  PersistCounters not_measured;
  Store store(pool->medium(), &not_measured);
  KeyBuffer key(key_bytes_);
  std::string block;
  uint64_t written = 0;
  for (uint64_t number = 0; number < entries_;) {
    block.clear();
    for (uint64_t i = 0; i < kEntriesAtOnce && number < entries_; ++i, ++number) {
      const Slice k = key.Set(number);
      block.append(k.data(), k.size()).append(value_bytes_, 'v');
    }
    store.Stream(pool->Writable(span.offset + written), block.data(), block.size());
    written += block.size();
  }
  return store.Fence();
}

std::unique_ptr<Iterator> NewFloorIterator(const FloorData& data) {
  return std::make_unique<FloorIterator>(data);
}

uint64_t FloorHash(const Slice& key) {
  uint64_t number = 0;
  memcpy(&number, key.data(), std::min<size_t>(key.size(), sizeof(number)));
  return number * 0x9E3779B97F4A7C15;
}

}  // namespace pmlsm::bench
